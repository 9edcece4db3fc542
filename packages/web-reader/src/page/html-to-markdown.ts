import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { gfm } from 'turndown-plugin-gfm';
import { markLinks } from './mark-links.ts';
import type { PageDocument } from './page-dom.ts';
import { removeUnseen } from './remove-unseen.ts';

/** A page as it is read. */
export interface ReadablePage {
  readonly title: string;
  readonly markdown: string;
}

/**
 * The main text of a page as Markdown, or all of it where there is no main text. Takes as long and as
 * much as a hostile page wants: call it in a thread only.
 */
export function htmlToMarkdown(html: string, url: string): ReadablePage {
  const { document }: { document: PageDocument } = parseHTML(withBody(html));
  removeUnseen(document);
  markLinks(document, url);
  const titles = [...document.querySelectorAll('title')];
  const title = titles[0]?.textContent?.trim() ?? '';
  for (const element of titles) element.remove();
  const whole = document.body?.innerHTML ?? '';
  const article = new Readability(document).parse();
  // Short pages and lists of links have no article; their text counts all the same.
  const content = isWorthMore(article?.content, whole) ? whole : (article?.content ?? whole);
  return { title: title || (article?.title ?? ''), markdown: toMarkdown(content) };
}

/** The parser does not put in what a page leaves out, and then finds no text. */
function withBody(html: string): string {
  if (/<body[\s>]/i.test(html)) return html;
  return `<html><body>${html.replace(/<\/?(?:html|head)(?:\s[^>]*)?>/gi, '')}</body></html>`;
}

/** Readability may find an article in a corner of a page that is something else. */
function isWorthMore(article: string | null | undefined, whole: string): boolean {
  return textLength(article ?? '') < Math.min(200, textLength(whole));
}

function textLength(html: string): number {
  return html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ').length;
}

function toMarkdown(html: string): string {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
  });
  service.use(gfm);
  return service.turndown(html);
}
