import { decodeBytes } from '@parley/core/encoding';
import { unzipSync, zipSync } from 'fflate';
import { Parser } from 'htmlparser2';
import {
  DAMAGED,
  type DocumentLimits,
  type DocumentText,
  ENCRYPTED,
  refuseDocument,
  selectDocumentText,
} from './document-text.ts';
import { EPUB_PARTS, isEpub, readEpub } from './epub.ts';

const NOT_A_DOCUMENT = 'it is an archive, which I cannot open';

/** The kinds of archives, recognized by their entry names, and the entries that contain text. */
const KINDS: readonly {
  readonly is: (names: readonly string[]) => boolean;
  readonly parts: RegExp;
  readonly read: (
    members: ArchiveMembers,
    limits: DocumentLimits,
  ) => DocumentText | Promise<DocumentText>;
}[] = [
  { is: isEpub, parts: EPUB_PARTS, read: readEpub },
  {
    is: (names) => names.includes('mimetype'),
    parts: /^(?:mimetype|content\.xml|META-INF\/manifest\.xml)$/,
    read: readOpenDocument,
  },
  {
    is: isWordArchive,
    parts: /^word\/document\d*\.xml$/,
    read(members, limits) {
      const text = readWordText(members);
      return text === null ? refuseDocument(DAMAGED) : selectDocumentText(text, limits);
    },
  },
  {
    is: (names) => names.includes('xl/workbook.xml'),
    parts: /^(?:xl\/|_rels\/|\[Content_Types\]).*\.(?:xml|rels)$/i,
    read: async (members, limits) => selectDocumentText(await formatSheets(members), limits),
  },
  {
    is: (names) => names.includes('ppt/presentation.xml'),
    parts: /^ppt\/slides\/slide\d+\.xml$/,
    read: (members, limits) => selectDocumentText(readSlides(members), limits),
  },
];

type ArchiveMembers = ReadonlyMap<string, Uint8Array>;

/**
 * Extracts the text of a docx, xlsx, pptx, OpenDocument or EPUB file, which is recognized by its
 * content. Only the XML that contains text is unpacked, never pictures. Throws for a damaged file.
 */
export async function readOffice(bytes: Uint8Array, limits: DocumentLimits): Promise<DocumentText> {
  const names = listZipNames(bytes);
  if (names.length > MAX_MEMBERS) return refuseDocument(`it has more than ${MAX_MEMBERS} parts`);
  const kind = KINDS.find(({ is }) => is(names));
  if (kind === undefined) {
    return refuseDocument(names.includes('[Content_Types].xml') ? DAMAGED : NOT_A_DOCUMENT);
  }
  const members = unzipMembers(bytes, kind.parts);
  if (members === null) return refuseDocument(`it unpacks to more than ${LARGEST_UNPACKED_MB} MB`);
  return kind.read(members, limits);
}

/**
 * The library unpacks without a limit, so it is given a new, uncompressed archive of the entries
 * that were unpacked within the limit.
 */
function repackArchive(members: ArchiveMembers): Buffer {
  return Buffer.from(zipSync(Object.fromEntries(members), { level: 0 }));
}

async function formatSheets(members: ArchiveMembers): Promise<string> {
  const { default: readSheets } = await import('read-excel-file/node');
  const sheets = await readSheets(repackArchive(members));
  return sheets
    .map(({ sheet, data }) => [`# ${sheet}`, ...data.map((row) => row.map(formatCell).join('\t'))])
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function formatCell(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (!(cell instanceof Date)) return String(cell);
  return cell.toISOString().replace('T00:00:00.000Z', '');
}

/**
 * The maximum size unpacked from one archive. A long book has 5 MB of XML; zip bombs unpack to
 * gigabytes.
 */
const LARGEST_UNPACKED_MB = 32;
/** A workbook or a slide show has a few hundred entries. */
const MAX_MEMBERS = 10_000;

/** Lists the names of the entries in an archive, without unpacking any. */
function listZipNames(bytes: Uint8Array): readonly string[] {
  const names: string[] = [];
  unzipSync(bytes, {
    filter({ name }) {
      if (names.length <= MAX_MEMBERS) names.push(name);
      return false;
    },
  });
  return names;
}

/**
 * Unpacks the requested entries; returns null if they exceed the limit. An entry gets no more space
 * than the archive declares for it, and all entries together no more than the limit, so that a
 * small file cannot fill the memory by declaring a wrong size. Throws fflate's error for a damaged
 * archive.
 */
function unzipMembers(bytes: Uint8Array, wanted: RegExp): ArchiveMembers | null {
  let unpacked = 0;
  const limit = LARGEST_UNPACKED_MB * 1_024 * 1_024;
  const files = unzipSync(bytes, {
    filter({ name, originalSize }) {
      if (!wanted.test(name)) return false;
      unpacked += originalSize;
      return unpacked <= limit;
    },
  });
  return unpacked > limit ? null : new Map(Object.entries(files));
}

/** The text that a tag adds; `closing` is for `</a:p>`, and for an empty element as well. */
type RenderTag = (tag: string, closing: boolean) => string;

/** The element names that determine which text of a document is extracted. */
interface TextSelectors {
  readonly inside: ReadonlySet<string>;
  /** Everything within these elements is omitted, including the text that tags add. */
  readonly except?: ReadonlySet<string>;
}

/**
 * Returns the text inside the given elements of an XML document, in order. Entities that the
 * document defines itself are not expanded.
 */
function extractXmlText(xml: string, { inside, except }: TextSelectors, mark: RenderTag): string {
  const pieces: string[] = [];
  let depth = 0;
  let left = 0;
  const step = (tag: string, by: 1 | -1): void => {
    if (except?.has(tag)) left += by;
    if (left > 0) return;
    if (inside.has(tag)) depth += by;
    pieces.push(mark(tag, by === -1));
  };
  const parser = new Parser(
    {
      onopentagname: (tag) => step(tag, 1),
      onclosetag: (tag) => step(tag, -1),
      ontext(text) {
        if (depth > 0 && left === 0) pieces.push(text);
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  return pieces.join('');
}

/** The name of the main part of the document, which Word sometimes numbers. */
const MAIN = /^word\/document\d*\.xml$/;
/** Word's namespace, in its usual form and in the strict form of the standard. */
const NAMESPACE =
  /xmlns:([\w.-]+)="http:\/\/(?:schemas\.openxmlformats\.org\/wordprocessingml\/2006|purl\.oclc\.org\/ooxml\/wordprocessingml)\/main"/;
/** The namespaces are declared in the root element. */
const DECLARED_WITHIN = 16_384;

/** Whether an archive is a Word document. */
function isWordArchive(names: readonly string[]): boolean {
  return names.some((name) => MAIN.test(name));
}

/**
 * Extracts the text of a Word document, one paragraph per line; null if the archive is not a Word
 * document. Notes and deleted text are omitted.
 */
function readWordText(members: ArchiveMembers): string | null {
  const [, bytes] = [...members].find(([name]) => MAIN.test(name)) ?? [];
  const xml = decodeBytes(bytes ?? new Uint8Array()).text;
  const prefix = NAMESPACE.exec(xml.slice(0, DECLARED_WITHIN))?.[1];
  if (prefix === undefined) return null;
  const named = (...names: string[]) => names.map((name) => `${prefix}:${name}`);
  const marks = new Map([
    ...named('p', 'br', 'cr').map((tag) => [tag, '\n'] as const),
    ...named('tab').map((tag) => [tag, '\t'] as const),
    ...named('noBreakHyphen').map((tag) => [tag, '-'] as const),
  ]);
  // A text box is stored twice, and paragraph properties use the same element name for tab stops as
  // for tabs.
  const except = new Set(['mc:Fallback', ...named('pPr', 'rPr', 'del', 'moveFrom')]);
  const wanted = { inside: new Set(named('t')), except };
  return extractXmlText(xml, wanted, (tag, closing) => (closing && marks.get(tag)) || '');
}

const SLIDE = /^ppt\/slides\/slide(\d+)\.xml$/;
const TEXT = new Set(['a:t']);

/** Extracts the text of a slide show, in the order of the slide numbers. */
function readSlides(members: ArchiveMembers): string {
  return [...members]
    .map(([name, bytes]) => ({ number: Number(SLIDE.exec(name)?.[1]), bytes }))
    .filter(({ number }) => number > 0)
    .toSorted((one, other) => one.number - other.number)
    .map(({ number, bytes }) => `# Slide ${number}\n${readSlide(decodeBytes(bytes).text)}`)
    .join('\n\n');
}

function readSlide(xml: string): string {
  const lineEnds = new Set(['a:p', 'a:br']);
  const text = extractXmlText(xml, { inside: TEXT }, (tag, closing) =>
    closing && lineEnds.has(tag) ? '\n' : '',
  );
  return text.replaceAll(/\n{2,}/g, '\n').trim();
}

const PARAGRAPHS = new Set(['text:p', 'text:h']);

/**
 * Extracts the text of an OpenDocument file (odt, ods, odp): paragraphs as lines, table rows as
 * lines with tabs.
 */
function readOpenDocument(members: ArchiveMembers, limits: DocumentLimits): DocumentText {
  const read = (name: string): string => decodeBytes(members.get(name) ?? new Uint8Array()).text;
  if (!read('mimetype').startsWith('application/vnd.oasis.opendocument.'))
    return refuseDocument(DAMAGED);
  if (read('META-INF/manifest.xml').includes('encryption-data')) return refuseDocument(ENCRYPTED);
  const content = read('content.xml');
  if (content === '') return refuseDocument(DAMAGED);
  return selectDocumentText(
    extractXmlText(content, { inside: PARAGRAPHS }, createOpenDocumentTagRenderer()),
    limits,
  );
}

function createOpenDocumentTagRenderer(): RenderTag {
  let cells = 0;
  return (tag, closing) => {
    if (tag === 'table:table-cell') cells += closing ? -1 : 1;
    if (!closing) return '';
    switch (tag) {
      case 'text:p':
      case 'text:h':
        return cells > 0 ? ' ' : '\n';
      case 'text:line-break':
      case 'table:table-row':
        return '\n';
      case 'text:tab':
      case 'table:table-cell':
        return '\t';
      case 'text:s':
        return ' ';
      default:
        return '';
    }
  };
}
