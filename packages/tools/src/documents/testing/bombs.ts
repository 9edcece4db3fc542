import { constants, crc32, deflateRawSync } from 'node:zlib';
import { XLSX_PARTS, zipOf } from './sample-files.ts';

const MB = 1_024 * 1_024;

/** Pressed bytes that unpack to `unit` many times over, and how many; made without unpacking them. */
function flood(unit: string, megabytes: number) {
  const block = Buffer.from(unit.repeat(Math.floor(MB / Buffer.byteLength(unit))));
  const pressed = deflateRawSync(block, { finishFlush: constants.Z_FULL_FLUSH });
  const last = Buffer.from([3, 0]);
  const data = Buffer.concat([...Array.from({ length: megabytes }, () => pressed), last]);
  return { data, size: block.length * megabytes };
}

/** For tests: a small PDF whose page is drawn by a stream that unpacks to many megabytes. */
export function pdfBomb(megabytes: number): Uint8Array {
  const data = Buffer.concat([Buffer.from([0x78, 0x9c]), flood('\0', megabytes).data]);
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << >> >>',
    `<< /Length ${data.length} /Filter /FlateDecode >>\nstream\n${data.toString('latin1')}\nendstream`,
  ].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`);
  // Without a table of its objects: readers look for them.
  const file = `%PDF-1.4\n${objects.join('')}trailer\n<< /Size 5 /Root 1 0 R >>\n%%EOF\n`;
  return Uint8Array.from(Buffer.from(file, 'latin1'));
}

/**
 * For tests: an archive with some members, and one that begins with `start` and goes on with `unit` for
 * many megabytes. `claimed`: the bytes that its directory says it has.
 */
export function zipBomb(
  big: { name: string; start?: string; unit: string; megabytes: number; claimed?: number },
  small: Readonly<Record<string, string>> = {},
): Uint8Array {
  const { name: bigName, start = '', unit, megabytes } = big;
  const started = deflateRawSync(start, { finishFlush: constants.Z_FULL_FLUSH });
  const rest = flood(unit, megabytes);
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

/** For tests: a workbook of a million short rows. */
export function xlsxBomb(): Uint8Array {
  const unit = '<row><c><v>1</v></c></row>';
  const start = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`;
  const sheet = { name: 'xl/worksheets/sheet1.xml', start, unit, megabytes: 31 };
  return zipBomb(sheet, XLSX_PARTS);
}

/** For tests: an archive of many empty members. */
export function crowdedZip(members: number): Uint8Array {
  return zipOf(Object.fromEntries(Array.from({ length: members }, (_, at) => [`${at}.xml`, ''])));
}
