import { constants, crc32, deflateRawSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';

/** For tests: an archive with text entries. */
export function createZip(members: Readonly<Record<string, string>>): Uint8Array {
  return zipSync(
    Object.fromEntries(Object.entries(members).map(([name, text]) => [name, strToU8(text)])),
  );
}

/** For tests: a Word document with one paragraph per line. */
export function createDocx(lines: readonly string[]): Uint8Array {
  const paragraphs = lines.map((line) => `<w:p><w:r><w:t>${line}</w:t></w:r></w:p>`).join('');
  return createZip({
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${paragraphs}</w:body></w:document>`,
  });
}

/** For tests: a workbook with one sheet whose cells contain text or numbers. */
export function createXlsx(rows: readonly (readonly (string | number)[])[]): Uint8Array {
  const cell = (value: string | number, at: string) =>
    typeof value === 'number'
      ? `<c r="${at}"><v>${value}</v></c>`
      : `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
  const data = rows
    .map((row, y) => {
      const cells = row.map((value, x) => cell(value, `${'ABCDEF'[x]}${y + 1}`)).join('');
      return `<row r="${y + 1}">${cells}</row>`;
    })
    .join('');
  return createZip({
    ...XLSX_PARTS,
    'xl/worksheets/sheet1.xml': `<worksheet ${MAIN}><sheetData>${data}</sheetData></worksheet>`,
  });
}

const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"';
/** For tests: all parts of a workbook except its only sheet, which is called Sales. */
const XLSX_PARTS = {
  '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
  '_rels/.rels': `<Relationships ${PACKAGE}><Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook ${MAIN} xmlns:r="${OFFICE}"><sheets><sheet name="Sales" sheetId="1" r:id="r1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships ${PACKAGE}><Relationship Id="r1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
};

/** For tests: a slide show whose slides are stored in the alphabetical order of their numbers. */
export function createPptx(slides: readonly string[]): Uint8Array {
  const members: Record<string, string> = {
    '[Content_Types].xml': '<Types/>',
    'ppt/presentation.xml': '<p:presentation/>',
  };
  for (const [at, words] of slides.entries()) {
    members[`ppt/slides/slide${at + 1}.xml`] =
      `<?xml version="1.0"?><p:sld><!-- <a:t>no</a:t> --><p:ph type="x"/><a:p><a:r><a:t>${words}</a:t></a:r></a:p></p:sld>`;
  }
  return createZip(members);
}

/** For tests: an OpenDocument text around the given body; encrypted when `manifest` says so. */
export function createOdt(body: string, manifest = ''): Uint8Array {
  return createZip({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': `<office:document-content><office:styles>no</office:styles><office:body>${body}</office:body></office:document-content>`,
    'META-INF/manifest.xml': manifest,
  });
}

/** For tests: a PDF with one page per string; an empty string gives a page without words. */
export function createPdf(pages: readonly string[], more = ''): Uint8Array {
  const objects = ['<< /Type /Catalog /Pages 2 0 R >>', ''];
  const kids: string[] = [];
  for (const words of pages) {
    const page = objects.length + 1;
    const stream = words === '' ? '' : `BT /F1 12 Tf 72 720 Td (${words}) Tj ET`;
    kids.push(`${page} 0 R`);
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${page + 1} 0 R /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    );
  }
  objects[1] = `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${kids.length} >>`;
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const start = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${more} >>\nstartxref\n${start}\n%%EOF\n`;
  return strToU8(file);
}

/** For tests: passed to `createPdf` so that the file requires a password. */
export const LOCKED = `/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> >> /ID [<00> <00>]`;

const MB = 1_024 * 1_024;

/**
 * Compressed bytes that unpack to `unit` repeated many times, and their unpacked length; created
 * without unpacking them.
 */
function createCompressedFlood(unit: string, megabytes: number) {
  const block = Buffer.from(unit.repeat(Math.floor(MB / Buffer.byteLength(unit))));
  const pressed = deflateRawSync(block, { finishFlush: constants.Z_FULL_FLUSH });
  const last = Buffer.from([3, 0]);
  const data = Buffer.concat([...Array.from({ length: megabytes }, () => pressed), last]);
  return { data, size: block.length * megabytes };
}

/** For tests: a small PDF whose page content stream unpacks to many megabytes. */
export function createPdfBomb(megabytes: number): Uint8Array {
  const data = Buffer.concat([
    Buffer.from([0x78, 0x9c]),
    createCompressedFlood('\0', megabytes).data,
  ]);
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << >> >>',
    `<< /Length ${data.length} /Filter /FlateDecode >>\nstream\n${data.toString('latin1')}\nendstream`,
  ].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`);
  // The file has no cross-reference table, so readers rebuild it.
  const file = `%PDF-1.4\n${objects.join('')}trailer\n<< /Size 5 /Root 1 0 R >>\n%%EOF\n`;
  return Uint8Array.from(Buffer.from(file, 'latin1'));
}

/**
 * For tests: an archive with the given entries, and one that begins with `start` and continues with
 * `unit` for many megabytes. `claimed` is the size that its directory declares, in bytes.
 */
export function createZipBomb(
  big: { name: string; start?: string; unit: string; megabytes: number; claimed?: number },
  small: Readonly<Record<string, string>> = {},
): Uint8Array {
  const { name: bigName, start = '', unit, megabytes } = big;
  const started = deflateRawSync(start, { finishFlush: constants.Z_FULL_FLUSH });
  const rest = createCompressedFlood(unit, megabytes);
  const size = big.claimed ?? start.length + rest.size;
  const members = [
    { name: bigName, data: Buffer.concat([started, rest.data]), size, crc: 0 },
    ...Object.entries(small).map(([name, text]) => ({
      name,
      data: deflateRawSync(text),
      size: Buffer.byteLength(text),
      crc: crc32(text),
    })),
  ];
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data, size, crc } of members) {
    const header = Buffer.alloc(26);
    header.writeUInt16LE(20, 0);
    header.writeUInt16LE(8, 4);
    header.writeUInt32LE(crc, 10);
    header.writeUInt32LE(data.length, 14);
    header.writeUInt32LE(size, 18);
    header.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const file = Buffer.concat([Buffer.from('PK\u0003\u0004'), header, Buffer.from(name), data]);
    const entry = Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\0'), header, place]);
    directory.push(entry, Buffer.from(name));
    files.push(file);
    offset += file.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Uint8Array.from(Buffer.concat([...files, listed, end]));
}

/** For tests: a workbook with a million short rows. */
export function createXlsxBomb(): Uint8Array {
  const unit = '<row><c><v>1</v></c></row>';
  const start = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`;
  const sheet = { name: 'xl/worksheets/sheet1.xml', start, unit, megabytes: 31 };
  return createZipBomb(sheet, XLSX_PARTS);
}

/** For tests: an archive with many empty entries. */
export function createCrowdedZip(members: number): Uint8Array {
  return createZip(
    Object.fromEntries(Array.from({ length: members }, (_, at) => [`${at}.xml`, ''])),
  );
}
