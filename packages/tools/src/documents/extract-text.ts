import { detectFormat } from './document-format.ts';
import {
  DAMAGED,
  type DocumentLimits,
  type DocumentText,
  ENCRYPTED,
  refuseDocument,
  selectDocumentText,
} from './document-text.ts';
import { readTextDocument } from './plain-text.ts';

const ONES_I_CAN_READ =
  'PDF, docx, xlsx, pptx, OpenDocument, EPUB, RTF, mail, calendars, contacts, HTML and plain text';

/**
 * Extracts the text of a document, whose format is determined by its bytes. This may take a long
 * time and runs in the current thread, so use `createDocumentReader` for untrusted files. Each
 * library is loaded for the first file that needs it.
 */
export async function extractText(
  bytes: Uint8Array,
  limits: DocumentLimits,
): Promise<DocumentText> {
  try {
    switch (detectFormat(bytes)) {
      case 'pdf':
        return await readPdf(bytes, limits);
      case 'zip':
        return await (await import('./office.ts')).readOffice(bytes, limits);
      case 'text':
        return await readTextDocument(bytes, limits);
      case 'old-office':
        return refuseDocument(isEncryptedPackage(bytes) ? ENCRYPTED : OLD_OFFICE);
      case 'rtf':
        return selectDocumentText(await readRtf(bytes), limits);
      case 'binary':
        return refuseDocument(`it is not in a format that I can read: ${ONES_I_CAN_READ}`);
    }
  } catch {
    // The libraries throw hundreds of different errors, none of which would tell people more than
    // this reason.
    return refuseDocument(DAMAGED);
  }
}

const OLD_OFFICE = `it is in an old Office format; I can read ${ONES_I_CAN_READ}`;

/** The beginning is ASCII and declares the encoding of the rest. */
async function readRtf(bytes: Uint8Array): Promise<string> {
  const { extractRtfText } = await import('./rtf.ts');
  return extractRtfText(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'),
  );
}

/**
 * Office writes an encrypted document as a compound file that contains a stream with this name, in
 * UTF-16.
 */
function isEncryptedPackage(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(
    Buffer.from('EncryptedPackage', 'utf16le'),
  );
}

/**
 * The maximum number of pages read from one document; most documents reach the time limit first.
 */
const MAX_PAGES = 1_000;

/** Extracts the text of a PDF page by page, only as far as requested. Throws for a damaged PDF. */
async function readPdf(bytes: Uint8Array, limits: DocumentLimits): Promise<DocumentText> {
  const { getDocumentProxy } = await import('unpdf');
  let pdf: Awaited<ReturnType<typeof getDocumentProxy>>;
  try {
    pdf = await getDocumentProxy(bytes, { verbosity: 0 });
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'PasswordException')
      return refuseDocument(ENCRYPTED);
    throw thrown;
  }
  const wanted = (limits.from ?? 0) + limits.characters;
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    if (number > MAX_PAGES || length > wanted) break;
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = items
      .map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''))
      .join('')
      .trim();
    page.cleanup();
    length += text.length;
    pages.push(text);
  }
  if (length === 0)
    return refuseDocument('it contains only pictures of pages and no text (a scan)');
  return selectDocumentText(pages.join('\n\n'), limits, { pagesLeft: pdf.numPages - pages.length });
}
