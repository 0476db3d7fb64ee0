/**
 * What a dashboard is made of: kinds of panels, variables, links, and their places on the grid.
 */
import type { Builder } from "@grafana/grafana-foundation-sdk/cog"
import {
  BigValueGraphMode,
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder
} from "@grafana/grafana-foundation-sdk/common"
import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  type DashboardLink,
  DashboardLinkBuilder,
  DashboardLinkType,
  type Panel,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type VariableModel,
  VariableRefresh,
  VariableSort
} from "@grafana/grafana-foundation-sdk/dashboard"
import * as Heatmap from "@grafana/grafana-foundation-sdk/heatmap"
import {
  DataqueryBuilder,
  PromQueryFormat,
  QueryEditorMode
} from "@grafana/grafana-foundation-sdk/prometheus"
import * as Stat from "@grafana/grafana-foundation-sdk/stat"
import * as Table from "@grafana/grafana-foundation-sdk/table"
import * as TimeSeries from "@grafana/grafana-foundation-sdk/timeseries"
import { Short } from "@grafana/grafana-foundation-sdk/units"

/** Where a browser finds Jaeger. */
export const JAEGER = "http://localhost:16686"

/** As in provisioning/datasources/. */
const PROMETHEUS = { type: "prometheus", uid: "toolspan-prometheus" }

export interface About {
  readonly title: string
  readonly description: string
}

/** Of a panel with numbers. */
export interface Measured extends About {
  readonly unit: string
}

export interface Query {
  readonly expr: string
  /** The name of a series; `{{label}}` is the value of its label. */
  readonly legend: string
}

/** A line for each series. */
export const lines = (about: Measured, ...queries: ReadonlyArray<Query>): TimeSeries.PanelBuilder =>
  graph(about, queries.map(ranged)).fillOpacity(5).showPoints(VisibilityMode.Auto)

/** A stack of bars for each interval: how often something happened in it. */
export const bars = (about: About, ...queries: ReadonlyArray<Query>): TimeSeries.PanelBuilder =>
  graph({ ...about, unit: Short }, queries.map(ranged))
    .drawStyle(GraphDrawStyle.Bars)
    .fillOpacity(80)
    .lineWidth(0)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal))
    .legend(legend(["sum"]))

/** Lines, and a point for each call that the collector kept as an example, with a link to its trace. */
export const linesWithTraces = (about: Measured, ...queries: ReadonlyArray<Query>): TimeSeries.PanelBuilder =>
  graph(
    about,
    queries.map((query, index) => ranged(query, index).exemplar(true))
  )

/** How many fell into each bucket of a histogram, over time. */
export const heatmap = (about: Measured, expr: string): Heatmap.PanelBuilder =>
  described(new Heatmap.PanelBuilder(), { ...about, unit: Short })
    .withTarget(ranged({ expr, legend: "{{le}}" }, 0).format(PromQueryFormat.Heatmap))
    .calculate(false)
    .color(new Heatmap.HeatmapColorOptionsBuilder().scheme("Blues").exponent(0.5).steps(64).reverse(false))
    .yAxis(new Heatmap.YAxisConfigBuilder().unit(about.unit))
    .cellValues(new Heatmap.CellValuesBuilder().unit(Short))
    .tooltip(new Heatmap.HeatmapTooltipBuilder().mode(TooltipDisplayMode.Single).yHistogram(true))

/** One number. It is red from `red` on. */
export const number = (about: Measured, expr: string, empty: string, red?: number): Stat.PanelBuilder =>
  described(new Stat.PanelBuilder(), about)
    .withTarget(instantly({ expr, legend: about.title }, 0))
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(["lastNotNull"]))
    .noValue(empty)
    .thresholds(
      new ThresholdsConfigBuilder()
        .mode(ThresholdsMode.Absolute)
        .steps([{ value: null, color: "text" }, ...(red === undefined ? [] : [{ value: red, color: "red" }])])
    )

/** From a cell of a table. */
export interface DataLink {
  readonly title: string
  readonly url: string
}

export interface Column {
  readonly title: string
  readonly unit: string
  readonly expr: string
}

/** A row for each set of labels, a column for each query. */
export const table = (
  about: About,
  labels: Readonly<Record<string, { readonly title: string; readonly link?: DataLink }>>,
  columns: ReadonlyArray<Column>
): Table.PanelBuilder => {
  const panel = described(new Table.PanelBuilder(), { ...about, unit: Short })
    .targets(
      columns.map(({ expr, title }, index) =>
        instantly({ expr, legend: title }, index).format(PromQueryFormat.Table)
      )
    )
    .withTransformation({ id: "merge", options: {} })
    .withTransformation({ id: "organize", options: { excludeByName: { Time: true } } })
  for (const [label, { link, title }] of Object.entries(labels)) {
    panel.overrideByName(label, [
      { id: "displayName", value: title },
      ...(link === undefined ? [] : [{ id: "links", value: [link] }])
    ])
  }
  columns.forEach(({ title, unit }, index) => {
    panel.overrideByName(`Value #${refId(index)}`, [
      { id: "displayName", value: title },
      { id: "unit", value: unit }
    ])
  })
  return panel
}

/** Gives a series always the same color. */
export const colored = (
  panel: TimeSeries.PanelBuilder,
  colors: Readonly<Record<string, string>>
): TimeSeries.PanelBuilder => {
  for (const [name, fixedColor] of Object.entries(colors)) {
    panel.overrideByName(name, [{ id: "color", value: { mode: "fixed", fixedColor } }])
  }
  return panel
}

/** A choice among the values of a label. */
export const choice = (name: string, label: string, of: string): QueryVariableBuilder =>
  new QueryVariableBuilder(name)
    .label(label)
    .datasource(PROMETHEUS)
    .query(`label_values(${of})`)
    // A tool that was last called before what is shown is no choice.
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)

/** From a dashboard: to another one, for the same time, or to another page, which opens beside it. */
export const link = (title: string, url: string): Builder<DashboardLink> => ({
  build: () => {
    const inside = url.startsWith("/")
    const builder = new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(url)
    // The builder would put it into a menu that has to be opened first.
    const { placement, ...shown } = builder.keepTime(inside).targetBlank(!inside).build()
    return shown
  }
})

/** A panel that has no place yet. */
interface Movable extends Builder<Panel> {
  readonly span: (width: number) => unknown
  readonly height: (height: number) => unknown
  readonly id: (id: number) => unknown
}

export interface Section {
  readonly title: string
  /** Lines of panels that share the width evenly. */
  readonly lines: ReadonlyArray<{ readonly height: number; readonly panels: ReadonlyArray<Movable> }>
}

export interface Contents extends About {
  readonly uid: string
  readonly variables: ReadonlyArray<Builder<VariableModel>>
  readonly links: ReadonlyArray<Builder<DashboardLink>>
  readonly sections: ReadonlyArray<Section>
}

export const dashboard = (contents: Contents): Dashboard => {
  const builder = new DashboardBuilder(contents.title)
    .uid(contents.uid)
    .description(contents.description)
    .tags(["toolspan"])
    .time({ from: "now-3h", to: "now" })
    .refresh("30s")
    .tooltip(DashboardCursorSync.Crosshair)
    .variables([...contents.variables])
    .links([...contents.links])
    .annotations([])
  let id = 0
  for (const { lines, title } of contents.sections) {
    builder.withRow(new RowBuilder(title).id(++id))
    for (const { height, panels } of lines) {
      for (const panel of panels) {
        panel.id(++id)
        panel.height(height)
        panel.span(WIDTH / panels.length)
        builder.withPanel(panel)
      }
    }
  }
  return builder.build()
}

/** Columns of the grid. */
const WIDTH = 24

interface Described<Self> {
  readonly title: (title: string) => Self
  readonly description: (description: string) => Self
  readonly unit: (unit: string) => Self
  readonly datasource: (datasource: typeof PROMETHEUS) => Self
  readonly interval: (interval: string) => Self
}

const described = <Self extends Described<Self>>(panel: Self, about: Measured): Self =>
  panel
    .title(about.title)
    .description(about.description)
    .unit(about.unit)
    .datasource(PROMETHEUS)
    // Programs send their metrics every minute, if not told otherwise: a shorter bar would be empty most of the time.
    .interval("1m")

const graph = (about: Measured, targets: ReadonlyArray<DataqueryBuilder>): TimeSeries.PanelBuilder =>
  described(new TimeSeries.PanelBuilder(), about)
    .targets([...targets])
    .min(0)
    .legend(legend([]))
    .tooltip(
      new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending).hideZeros(true)
    )

const legend = (calcs: ReadonlyArray<string>): VizLegendOptionsBuilder =>
  new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.List)
    .placement(LegendPlacement.Bottom)
    .calcs([...calcs])

const ranged = (query: Query, index: number): DataqueryBuilder => target(query, index).range()

const instantly = (query: Query, index: number): DataqueryBuilder => target(query, index).instant()

const target = ({ expr, legend }: Query, index: number): DataqueryBuilder =>
  new DataqueryBuilder().refId(refId(index)).expr(expr).legendFormat(legend).editorMode(QueryEditorMode.Code)

/** `A`, `B` and so on. */
const refId = (index: number): string => String.fromCharCode(65 + index)
