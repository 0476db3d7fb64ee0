/**
 * OpenTelemetry's global registrations: whether they are free, and how to give back those that are ours.
 */
import { context, metrics, ProxyTracerProvider, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api"
import { logs } from "@opentelemetry/api-logs"
import type { EnterableContextManager } from "./ContextManager.ts"

/** Whether a tracer provider is registered. */
export const isTracing = (): boolean => {
  const provider = trace.getTracerProvider()
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer("toolspan") !== undefined
}

/** Whether `manager` is the registered context manager: then what runs in it by the API is seen in it. */
export const isActive = (manager: EnterableContextManager): boolean => {
  const probe = ROOT_CONTEXT.setValue(Symbol("probe"), true)
  return context.with(probe, () => manager.active() === probe)
}

/** Runs `register` and returns how to undo just what it registered. */
export const registering = (manager: EnterableContextManager, register: () => void): (() => void) => {
  const before = {
    tracing: isTracing(),
    propagating: propagation.fields().length > 0,
    meters: metrics.getMeterProvider(),
    loggers: logs.getLoggerProvider()
  }
  register()
  const ours = {
    trace: !before.tracing && isTracing(),
    context: isActive(manager),
    propagation: !before.propagating && propagation.fields().length > 0,
    metrics: metrics.getMeterProvider() !== before.meters,
    logs: logs.getLoggerProvider() !== before.loggers
  }
  return () => {
    if (ours.trace) trace.disable()
    if (ours.context) context.disable()
    if (ours.propagation) propagation.disable()
    if (ours.metrics) metrics.disable()
    if (ours.logs) logs.disable()
  }
}
