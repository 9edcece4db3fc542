import type { Audience } from '@parley/contracts';
import { AudienceFrontMatter, audienceOf } from './file-audience.ts';
import { readFrontMatter } from './front-matter.ts';

/** A workspace file as it is kept in memory: whole, with its audience decided. */
export interface ParsedFile {
  readonly name: string;
  /** Without front matter, line ends `\n`, no blank lines around it. */
  readonly text: string;
  readonly audience: Audience;
  /** What is wrong with the front matter, for people; the file is then the owner's. */
  readonly problem: string | null;
}

/** Decides what a file says and to whom, from nothing but its name and its text. */
export function parseFile(name: string, raw: string): ParsedFile {
  const front = readFrontMatter(raw, AudienceFrontMatter);
  const base = { name, text: front.body };
  switch (front.kind) {
    case 'none':
      return { ...base, audience: audienceOf(name, undefined), problem: null };
    case 'parsed':
      return { ...base, audience: audienceOf(name, front.data.audience), problem: null };
    case 'refused':
      return { ...base, audience: audienceOf(name, 'unreadable'), problem: front.reason };
  }
}
