/** The maximum length of the header of a gpt-oss message, in characters. */
export const MAX_HEADER = 300;

/**
 * The kind of a gpt-oss message; `length` is the length of its header. `begin`: the call names its
 * tool outside the JSON of its arguments.
 */
export type HarmonyHeader = { readonly length: number } & (
  | { readonly kind: 'reasoning' | 'text' }
  | { readonly kind: 'call'; readonly begin: string }
);

/**
 * The header of a gpt-oss message, `<|start|>assistant<|channel|>commentary to=functions.x
 * <|constrain|>json<|message|>`, in which all parts but the last are optional.
 */
const HEADER =
  /^(?:<\|start\|>[^<]*)?(?:<\|channel\|>([^<]*))?(?:<\|constrain\|>[^<]*)?<\|message\|>/;

/**
 * Parses the header at the beginning of the text; null if there is no header or its end has not
 * arrived.
 */
export function readHarmonyHeader(text: string): HarmonyHeader | null {
  const found = HEADER.exec(text);
  if (found === null) return null;
  const [{ length }, channel = ''] = found;
  const [, tool = 'user'] = /\bto=(\S+)/.exec(found[0]) ?? [];
  if (tool !== 'user') return { kind: 'call', length, begin: `to=${tool} ` };
  return { kind: channel.includes('analysis') ? 'reasoning' : 'text', length };
}
