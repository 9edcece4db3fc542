import { unzipSync } from 'fflate';

/** The unpacked members of an archive by their names, or why it was not opened. */
export type OpenedZip =
  | { readonly kind: 'open'; readonly members: ReadonlyMap<string, Uint8Array> }
  | { readonly kind: 'refused'; readonly reason: string };

/** Most that is unpacked of one archive. A thick book is 5 MB of XML; zip bombs are gigabytes. */
const LARGEST_UNPACKED_MB = 32;
/** A workbook or a slide show has a few hundred members. */
const MOST_MEMBERS = 10_000;

/** The names of an archive's members, or why there are none; nothing is unpacked. */
export function zipNames(
  bytes: Uint8Array,
): { readonly names: readonly string[] } | { readonly reason: string } {
  const names: string[] = [];
  unzipSync(bytes, {
    filter({ name }) {
      if (names.length <= MOST_MEMBERS) names.push(name);
      return false;
    },
  });
  return names.length > MOST_MEMBERS
    ? { reason: `it has more than ${MOST_MEMBERS} parts` }
    : { names };
}

/**
 * Unpacks the members that are wanted. A member gets no more room than the archive says it needs, and
 * all that are wanted together no more than the limit, so that a small file cannot fill the memory,
 * whatever it says. Throws what fflate throws for a damaged archive.
 */
export function openZip(bytes: Uint8Array, wanted: (name: string) => boolean): OpenedZip {
  let unpacked = 0;
  const limit = LARGEST_UNPACKED_MB * 1_024 * 1_024;
  const files = unzipSync(bytes, {
    filter({ name, originalSize }) {
      if (!wanted(name)) return false;
      unpacked += originalSize;
      return unpacked <= limit;
    },
  });
  if (unpacked > limit) {
    return { kind: 'refused', reason: `it unpacks to more than ${LARGEST_UNPACKED_MB} MB` };
  }
  return { kind: 'open', members: new Map(Object.entries(files)) };
}
