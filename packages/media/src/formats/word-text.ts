import { xmlText } from './xml-text.ts';

/** Its main part; Word itself sometimes numbers it. */
const MAIN = /^word\/document\d*\.xml$/;
/** The namespace of Word, as it is usually written and in the strict form of the standard. */
const NAMESPACE =
  /xmlns:([\w.-]+)="http:\/\/(?:schemas\.openxmlformats\.org\/wordprocessingml\/2006|purl\.oclc\.org\/ooxml\/wordprocessingml)\/main"/;
/** The namespaces stand in the first element. */
const DECLARED_WITHIN = 16_384;

/** Whether an archive is a Word document. */
export function isWord(names: readonly string[]): boolean {
  return names.some((name) => MAIN.test(name));
}

/** The text of a Word document, a paragraph a line; null when it is none. Without notes and what was deleted. */
export function wordText(members: ReadonlyMap<string, Uint8Array>): string | null {
  const [, bytes] = [...members].find(([name]) => MAIN.test(name)) ?? [];
  const xml = new TextDecoder().decode(bytes);
  const prefix = NAMESPACE.exec(xml.slice(0, DECLARED_WITHIN))?.[1];
  if (prefix === undefined) return null;
  const named = (...names: string[]) => names.map((name) => `${prefix}:${name}`);
  const marks = new Map([
    ...named('p', 'br', 'cr').map((tag) => [tag, '\n'] as const),
    ...named('tab').map((tag) => [tag, '\t'] as const),
    ...named('noBreakHyphen').map((tag) => [tag, '-'] as const),
  ]);
  // A text box stands there twice; the properties of a paragraph name its tab stops like tabs.
  const except = new Set(['mc:Fallback', ...named('pPr', 'rPr', 'del', 'moveFrom')]);
  const wanted = { inside: new Set(named('t')), except };
  return xmlText(xml, wanted, (tag, closing) => (closing && marks.get(tag)) || '');
}
