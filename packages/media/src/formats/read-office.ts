import { zipSync } from 'fflate';
import {
  DAMAGED,
  type DocumentLimits,
  type DocumentText,
  documentText,
  refused,
} from '../document-text.ts';
import { openZip } from './open-zip.ts';
import { readOpenDocument } from './read-open-document.ts';
import { slidesText } from './slides-text.ts';

const NOT_A_DOCUMENT = 'it is an archive, and I cannot look into those';

/**
 * The text of a docx, xlsx, pptx or OpenDocument file, told apart by what they contain. Only their XML
 * is unpacked, never their pictures. Throws for a damaged one.
 */
export async function readOffice(bytes: Uint8Array, limits: DocumentLimits): Promise<DocumentText> {
  const zip = openZip(bytes, isXml);
  if (zip.kind === 'refused') return refused(zip.reason);
  const { members } = zip;
  if (members.has('mimetype')) return readOpenDocument(members, limits);
  if (members.has('word/document.xml')) return documentText(await wordText(members), limits);
  if (members.has('xl/workbook.xml')) return documentText(await sheetsText(members), limits);
  if (members.has('ppt/presentation.xml')) return documentText(slidesText(members), limits);
  return refused(members.has('[Content_Types].xml') ? DAMAGED : NOT_A_DOCUMENT);
}

function isXml(name: string): boolean {
  return name === 'mimetype' || /\.(xml|rels)$/i.test(name);
}

/** Libraries unpack without a limit; what was unpacked within it is packed again for them, unpressed. */
function packed(members: ReadonlyMap<string, Uint8Array>): Buffer {
  return Buffer.from(zipSync(Object.fromEntries(members), { level: 0 }));
}

async function wordText(members: ReadonlyMap<string, Uint8Array>): Promise<string> {
  const { default: mammoth } = await import('mammoth');
  const { value } = await mammoth.extractRawText({ buffer: packed(members) });
  // It puts an empty line behind each paragraph.
  return value.replaceAll(/\n{2,}/g, '\n');
}

async function sheetsText(members: ReadonlyMap<string, Uint8Array>): Promise<string> {
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
