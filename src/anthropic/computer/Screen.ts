/**
 * The screen that the model is told of, over the one that there is: places are scaled both ways, and none is moved onto the screen that is
 * off it.
 */
import { badAction, type ComputerError } from "./ComputerError.ts"

/** Pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

export type Point = readonly [x: number, y: number]

/** Where the model's place is on the real screen: the middle of what a pixel of the model's covers. */
export const toReal = ([x, y]: Point, told: Size, real: Size): Point | ComputerError =>
  x < 0 || y < 0 || x >= told.width || y >= told.height
    ? badAction(
        `The coordinate (${x}, ${y}) is off the screen, which is ${told.width} by ${told.height} pixels: x is 0 to ${told.width - 1}, y 0 to ${told.height - 1}`
      )
    : [scale(x, told.width, real.width), scale(y, told.height, real.height)]

/** Where a place of the real screen is for the model. */
export const toTold = ([x, y]: Point, told: Size, real: Size): Point => [
  scale(x, real.width, told.width),
  scale(y, real.height, told.height)
]

const scale = (at: number, from: number, to: number): number =>
  Math.min(to - 1, Math.max(0, Math.floor(((at + 0.5) * to) / from)))

export interface Area extends Size {
  readonly left: number
  readonly top: number
}

/** The part of the real screen that a region of the model's covers; right and bottom are just outside. */
export const areaOf = (
  [left, top, right, bottom]: readonly [left: number, top: number, right: number, bottom: number],
  told: Size,
  real: Size
): Area | ComputerError => {
  if (left < 0 || top < 0 || right > told.width || bottom > told.height || left >= right || top >= bottom) {
    return badAction(
      `The region (${left}, ${top}, ${right}, ${bottom}) is no part of the screen, which is ${told.width} by ${told.height} pixels: give left, top, right, bottom, with left < right and top < bottom`
    )
  }
  const [x0, y0] = [
    Math.floor((left * real.width) / told.width),
    Math.floor((top * real.height) / told.height)
  ]
  const [x1, y1] = [
    Math.ceil((right * real.width) / told.width),
    Math.ceil((bottom * real.height) / told.height)
  ]
  return { left: x0, top: y0, width: x1 - x0, height: y1 - y0 }
}
