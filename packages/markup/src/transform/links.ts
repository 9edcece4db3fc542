import type { LinkRule } from '../capabilities.ts';
import type { Mark, Run } from '../document.ts';

/** Whether the dialect can hide this address behind a text. Relative and odd addresses never. */
export function isLinkable(url: string, rule: LinkRule): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (!rule.schemes.includes(protocol)) return false;
  return !rule.dottedHostOnly || hostname.includes('.') || hostname.startsWith('[');
}

/** Whether the text already shows the address, as a bare URL does. */
export function showsAddress(text: string, url: string): boolean {
  return text === url || url === `http://${text}` || url === `mailto:${text}`;
}

/** The same runs without link marks; addresses follow in parentheses, so that nothing is lost. */
export function withAddresses(runs: readonly Run[]): Run[] {
  const out: Run[] = [];
  for (const [index, run] of runs.entries()) {
    const link = linkOf(run);
    out.push(link === undefined ? run : { ...run, marks: run.marks.filter((m) => m !== link) });
    if (link === undefined || linkOf(runs[index + 1]) === link) continue;
    const shown = runs.filter((other) => linkOf(other) === link);
    const address = addressAfter(shown.map(({ text }) => text).join(''), link.url);
    if (address !== '') out.push({ text: address, marks: [] });
  }
  return out;
}

/** What to write behind a link's text for those who cannot follow it; empty if the text says it. */
export function addressAfter(text: string, url: string): string {
  if (url === '' || showsAddress(text, url)) return '';
  return ` (${url})`;
}

/** The link a run stands in. */
export function linkOf(run: Run | undefined): (Mark & { type: 'link' }) | undefined {
  return run?.marks.find((mark) => mark.type === 'link');
}
