import { decodeBytes } from '@parley/core/encoding';
import { Parser } from 'htmlparser2';
import {
  DAMAGED,
  type DocumentLimits,
  type DocumentText,
  ENCRYPTED,
  refuseDocument,
  selectDocumentText,
} from './document-text.ts';
import { formatMarkup } from './markup-text.ts';

const CONTAINER = 'META-INF/container.xml';

/** Whether an archive is an EPUB book, judging by its entry names. */
export function isEpub(names: readonly string[]): boolean {
  return names.includes(CONTAINER) && names.some((name) => /\.opf$/i.test(name));
}

/** The entries that contain text: the container, the package, and the chapters. */
export const EPUB_PARTS = /^META-INF\/container\.xml$|\.(?:opf|xhtml|html?|xml)$/i;

/** Extracts the text of a book in spine order, only as far as requested. */
export function readEpub(
  members: ReadonlyMap<string, Uint8Array>,
  limits: DocumentLimits,
): DocumentText {
  const container = members.get(CONTAINER);
  const path = container === undefined ? undefined : findRootFile(decodeBytes(container).text);
  const opf = path === undefined ? undefined : members.get(path);
  if (path === undefined || opf === undefined) return refuseDocument(DAMAGED);
  const { title, authors, chapters } = parsePackage(decodeBytes(opf).text);
  const heading = [title, authors.join(', ')].filter((line) => line !== '').join(', by ');
  const parts = heading === '' ? [] : [heading];
  const wanted = (limits.from ?? 0) + limits.characters;
  let length = heading.length;
  let isLocked = false;
  let read = 0;
  for (const href of chapters) {
    if (length > wanted) break;
    read += 1;
    const bytes = members.get(resolvePath(path, href));
    if (bytes === undefined) continue;
    const { text, certainty } = decodeBytes(bytes);
    if (certainty === 'none' || !text.includes('<')) isLocked = true;
    else parts.push(formatMarkup(text));
    length += parts.at(-1)?.length ?? 0;
  }
  if (isLocked && parts.length <= 1) return refuseDocument(ENCRYPTED);
  return selectDocumentText(parts.join('\n\n'), limits, { pagesLeft: chapters.length - read });
}

function findRootFile(container: string): string | undefined {
  let path: string | undefined;
  forEachTag(container, (tag, attributes) => {
    if (tag === 'rootfile') path ??= attributes['full-path'];
  });
  return path;
}

interface EpubPackage {
  readonly title: string;
  readonly authors: readonly string[];
  /** The chapter paths in reading order, relative to the package's folder. */
  readonly chapters: readonly string[];
}

function parsePackage(opf: string): EpubPackage {
  const hrefs = new Map<string, string>();
  const spine: string[] = [];
  const texts = { title: '', creator: [] as string[] };
  let inside = '';
  forEachTag(
    opf,
    (tag, attributes) => {
      if (tag === 'item' && attributes.id !== undefined) {
        hrefs.set(attributes.id, attributes.href ?? '');
      }
      if (tag === 'itemref' && attributes.idref !== undefined) spine.push(attributes.idref);
      inside = tag;
      if (tag === 'creator') texts.creator.push('');
    },
    (text) => {
      if (inside === 'title') texts.title += text;
      if (inside === 'creator') texts.creator.push(`${texts.creator.pop() ?? ''}${text}`);
    },
  );
  return {
    title: texts.title.trim(),
    authors: texts.creator.map((name) => name.trim()).filter((name) => name !== ''),
    chapters: spine.flatMap((id) => hrefs.get(id) ?? []),
  };
}

/** Calls back for each element (named without its prefix) and for text. */
function forEachTag(
  xml: string,
  onTag: (tag: string, attributes: Readonly<Record<string, string>>) => void,
  onText: (text: string) => void = () => {},
): void {
  const plain = (tag: string) => tag.slice(tag.indexOf(':') + 1);
  const parser = new Parser(
    {
      onopentag: (tag, attributes) => onTag(plain(tag), attributes),
      onclosetag: () => onTag('', {}),
      ontext: onText,
    },
    { xmlMode: true },
  );
  parser.end(xml);
}

/** Resolves a path in the package to a path from the root of the archive. */
function resolvePath(opf: string, href: string): string {
  const steps = opf.split('/').slice(0, -1);
  for (const step of decodePercent(href.split('#')[0] ?? '').split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '.' && step !== '') steps.push(step);
  }
  return steps.join('/');
}

function decodePercent(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}
