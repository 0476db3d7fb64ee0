/**
 * Says by its name whether a field holds a secret.
 *
 * Spelling does not matter: `apiKey`, `api_key`, `API-KEY` and `api key` are one name. What a value looks like is `Redaction.ts`' matter.
 */

/** A cheap first look: a name without any of these is no secret's, and a text without them names none. */
export const candidate =
  /pass|pwd|secret|token|auth|key|cookie|cred|sess|cv[vc]|csc|ssn|social|card|pin|otp|jwt|csrf|xsrf|sid|sig|pw|code/i

/** Parts of a name, written without separators, that are a secret's wherever they stand. */
const SECRET = new RegExp(
  [
    "passw(?:or)?d|passphrase|passcode|passkey|pwd|secret|token|credential|cookie|csrf|xsrf",
    "authorization|^(?:x|http|proxy)?auth$|auth(?:entication)?(?:key|code|header)$",
    "(?:api|app|access|account|admin|auth|client|decryption|deploy|encryption|gpg|hmac|license|master|pgp|priv)keys?",
    "(?:private|root|service|session|shared|signature|signing|ssh|storage|subscription|webhook)keys?",
    "sess(?:ion)?id|pincode|(?:security|verification|onetime)code|socialsecurity|cardnumber|xamzsignature"
  ].join("|")
)

/** Short parts of a name that are a secret's only where they are a word of it: not in `spinning` or `compass`. */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  "pass pw pin otp totp jwt ssn sid sig csc cvc cvc2 cvv cvv2".split(" ")
)

/** Names that speak about a secret and hold none. */
const HARMLESS =
  /tokeni[sz]|secretar|expectedtoken|(?:token|authorization)(?:type|url|uri|endpoint)$|(?:token|secret|password|key|cookie)(?:policy|count|limit|budget|length|usage)$/

/** Names that mean an amount when their value is a number: `max_tokens`, `passwords`, `token_age`. */
const AMOUNT = /tokens|(?:secrets|passwords|credentials|cookies|keys)$|^pass$/

const AMOUNT_WORDS: ReadonlySet<string> = new Set(
  "max min num total count limit budget usage used left remaining size length rate cost price age days".split(
    " "
  )
)

/** A longer name is judged by its beginning, so that a hostile one costs nothing. */
const LONGEST = 256

/**
 * Whether a field of this name holds a secret. `value`, where known, helps to decide: `null`, `true` and `false` never are one, and a
 * number under `max_tokens` or `tokens` is an amount.
 */
export const isSecretKey = (key: string, value?: unknown): boolean => {
  const name = key.length > LONGEST ? key.slice(0, LONGEST) : key
  if (!candidate.test(name)) return false
  if (value === null || typeof value === "boolean") return false
  const joined = name.replace(/[^A-Za-z0-9]+/g, "").toLowerCase()
  if (HARMLESS.test(joined)) return false
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  if (typeof value === "number" || typeof value === "bigint") {
    if (AMOUNT.test(joined) || words.some((word) => AMOUNT_WORDS.has(word))) return false
  }
  return SECRET.test(joined) || words.some((word) => SECRET_WORDS.has(word))
}
