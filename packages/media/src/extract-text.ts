import { detectFormat } from './detect-format.ts';
import {
  DAMAGED,
  type DocumentLimits,
  type DocumentText,
  ENCRYPTED,
  refused,
} from './document-text.ts';
import { readPlain } from './formats/read-plain.ts';

const ONES_I_CAN_READ = 'PDF, docx, xlsx, pptx, OpenDocument and plain text';

/**
 * The text of a document, by what its bytes are. Takes as long as it takes and trusts the file with
 * this very thread: use `createDocumentReader`. Each library is loaded when the first such file comes.
 */
export async function extractText(
  bytes: Uint8Array,
  limits: DocumentLimits,
): Promise<DocumentText> {
  try {
    switch (detectFormat(bytes)) {
      case 'pdf':
        return await (await import('./formats/read-pdf.ts')).readPdf(bytes, limits);
      case 'zip':
        return await (await import('./formats/read-office.ts')).readOffice(bytes, limits);
      case 'text':
        return readPlain(bytes, limits);
      case 'old-office':
        return refused(isEncryptedPackage(bytes) ? ENCRYPTED : oldFormat('Office'));
      case 'rtf':
        return refused(oldFormat('RTF'));
      case 'binary':
        return refused(`it is none of those that I can read: ${ONES_I_CAN_READ}`);
    }
  } catch {
    // The libraries throw hundreds of different things, which say no more to people than this.
    return refused(DAMAGED);
  }
}

function oldFormat(name: string): string {
  return `it is in an old ${name} format; I can read ${ONES_I_CAN_READ}`;
}

/** Office writes an encrypted document as a compound file with a stream of this name, in UTF-16. */
function isEncryptedPackage(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(
    Buffer.from('EncryptedPackage', 'utf16le'),
  );
}
