/**
 * How many terminal cells a text takes.
 *
 * East Asian wide characters and emoji take two cells, combining and other invisible characters none. Where terminals differ the wider
 * reading is taken, so that a line never wraps; only an emoji sequence (flags, skin tones, families) counts as the one picture that
 * it is. Expects text without control characters (`PlainText`).
 */

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" })

/** Latin letters, punctuation, arrows, mathematics and what trees are drawn with: one cell each, and most of what is printed. */
const narrow = /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2190-\u22ff\u2500-\u259f\u2713\u2717]*$/
/** Hangul vowels and final consonants: drawn into the syllable that they follow. */
const conjoining = /[\u1160-\u11ff\ud7b0-\ud7fb]/
const halfWidth = /[\uff61-\uffdc]/
/** Scripts by property, which follow the Unicode version of the engine; symbols and punctuation by block. */
const wide =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Yi}\p{Script=Tangut}\p{Script=Nushu}\p{Script=Khitan_Small_Script}\u2329\u232a\u2630-\u2637\u268a-\u268f\u2ff0-\u33ff\u4dc0-\u4dff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{16ff6}\u{1aff0}-\u{1b2fb}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u
const invisible = /[\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Default_Ignorable_Code_Point}]/u
const emojiSequence = /^\p{Emoji}.*(?:\p{Regional_Indicator}|\p{Emoji_Modifier}|\u200d|\ufe0f)/u

/** Cells that the text takes. */
export const of = (text: string): number => {
  if (narrow.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += ofGrapheme(segment)
  return width
}

/** The longest beginning of the text that takes at most `columns` cells, cut between visible characters. */
export const take = (text: string, columns: number): string => {
  if (narrow.test(text)) return text.slice(0, Math.max(0, columns))
  let width = 0
  for (const { index, segment } of segmenter.segment(text)) {
    width += ofGrapheme(segment)
    if (width > columns) return text.slice(0, index)
  }
  return text
}

const ofGrapheme = (grapheme: string): number => {
  if (emojiSequence.test(grapheme)) return 2
  if (conjoining.test(grapheme.charAt(0))) return grapheme.length
  let width = 0
  for (const character of grapheme) width += ofCharacter(character)
  return width
}

const ofCharacter = (character: string): number => {
  if (conjoining.test(character)) return 0
  if (halfWidth.test(character)) return 1
  if (wide.test(character)) return 2
  return invisible.test(character) && character !== "\u00ad" ? 0 : 1
}
