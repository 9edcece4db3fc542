import type { FileFault } from '../file-cache.ts';
import { isBlank } from '../is-blank.ts';
import { type ParsedFile, parseFile } from '../parse-file.ts';

/** A file whose text is decided elsewhere; what stands on the disk is a copy (W06). */
export interface GovernedFile {
  readonly name: string;
  /** What it says now, and the front matter to go by where there is no file; null: the file counts. */
  current(): Promise<{ readonly text: string; readonly head: string } | null>;
}

/**
 * The file as readers get it: for whom it is says the file on the disk, what it says does not. `name`
 * is as the reader wrote it.
 */
export async function asGoverned(
  governed: GovernedFile | undefined,
  name: string,
  found: ParsedFile | FileFault,
): Promise<ParsedFile | FileFault> {
  if (governed?.name !== name) return found;
  const current = await governed.current();
  if (current === null) return found;
  const { text, head } = current;
  const file = 'reason' in found ? parseFile(name, `${head}${text}`, false) : found;
  return { ...file, text, isBlank: isBlank(text) };
}
