import { zipSync } from 'fflate';
import {
  DAMAGED,
  type DocumentLimits,
  type DocumentText,
  documentText,
  refused,
} from '../document-text.ts';
import { openZip, zipNames } from './open-zip.ts';
import { readOpenDocument } from './read-open-document.ts';
import { slidesText } from './slides-text.ts';
import { isWord, wordText } from './word-text.ts';

const NOT_A_DOCUMENT = 'it is an archive, and I cannot look into those';

/** What an archive is by the names of its members, and which of these its text is in. */
const KINDS: readonly {
  readonly is: (names: readonly string[]) => boolean;
  readonly parts: RegExp;
  readonly read: (members: Members, limits: DocumentLimits) => DocumentText | Promise<DocumentText>;
}[] = [
  {
    is: (names) => names.includes('mimetype'),
    parts: /^(?:mimetype|content\.xml|META-INF\/manifest\.xml)$/,
    read: readOpenDocument,
  },
  {
    is: isWord,
    parts: /^word\/document\d*\.xml$/,
    read(members, limits) {
      const text = wordText(members);
      return text === null ? refused(DAMAGED) : documentText(text, limits);
    },
  },
  {
    is: (names) => names.includes('xl/workbook.xml'),
    parts: /^(?:xl\/|_rels\/|\[Content_Types\]).*\.(?:xml|rels)$/i,
    read: async (members, limits) => documentText(await sheetsText(members), limits),
  },
  {
    is: (names) => names.includes('ppt/presentation.xml'),
    parts: /^ppt\/slides\/slide\d+\.xml$/,
    read: (members, limits) => documentText(slidesText(members), limits),
  },
];

type Members = ReadonlyMap<string, Uint8Array>;

/**
 * The text of a docx, xlsx, pptx or OpenDocument file, told apart by what they contain. Only the XML
 * with the text is unpacked, never pictures. Throws for a damaged one.
 */
export async function readOffice(bytes: Uint8Array, limits: DocumentLimits): Promise<DocumentText> {
  const listed = zipNames(bytes);
  if ('reason' in listed) return refused(listed.reason);
  const { names } = listed;
  const kind = KINDS.find(({ is }) => is(names));
  if (kind === undefined) {
    return refused(names.includes('[Content_Types].xml') ? DAMAGED : NOT_A_DOCUMENT);
  }
  const zip = openZip(bytes, (name) => kind.parts.test(name));
  return zip.kind === 'refused' ? refused(zip.reason) : kind.read(zip.members, limits);
}

/** The library unpacks without a limit; what was unpacked within it is packed again for it, unpressed. */
function packed(members: Members): Buffer {
  return Buffer.from(zipSync(Object.fromEntries(members), { level: 0 }));
}

async function sheetsText(members: Members): Promise<string> {
  const { default: readSheets } = await import('read-excel-file/node');
  const sheets = await readSheets(packed(members));
  return sheets
    .map(({ sheet, data }) => [`# ${sheet}`, ...data.map((row) => row.map(cellText).join('\t'))])
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (!(cell instanceof Date)) return String(cell);
  return cell.toISOString().replace('T00:00:00.000Z', '');
}
