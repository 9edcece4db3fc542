/** Longest header of a message of gpt-oss, in characters. */
export const MAX_HEADER = 300;

/**
 * The kind of a message of gpt-oss; `length`: that of its header. `begin`: the call names its tool outside its JSON.
 */
export type HarmonyHeader = { readonly length: number } & (
  | { readonly kind: 'reasoning' | 'text' }
  | { readonly kind: 'call'; readonly begin: string }
);

/** `<|start|>assistant<|channel|>commentary to=functions.x <|constrain|>json<|message|>`, each part but the last optional. */
const HEADER =
  /^(?:<\|start\|>[^<]*)?(?:<\|channel\|>([^<]*))?(?:<\|constrain\|>[^<]*)?<\|message\|>/;

/** The header at the beginning of a text; null where there is none, or its end has not come. */
export function readHarmonyHeader(text: string): HarmonyHeader | null {
  const found = HEADER.exec(text);
  if (found === null) return null;
  const [{ length }, channel = ''] = found;
  const [, tool = 'user'] = /\bto=(\S+)/.exec(found[0]) ?? [];
  if (tool !== 'user') return { kind: 'call', length, begin: `to=${tool} ` };
  return { kind: channel.includes('analysis') ? 'reasoning' : 'text', length };
}
