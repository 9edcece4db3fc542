import type { Audience } from '@parley/contracts';
import { AudienceFrontMatter, audienceOf } from './file-audience.ts';
import { type FrontMatter, readFrontMatter } from './front-matter.ts';
import { isBlank } from './is-blank.ts';

/** A workspace file as it is kept in memory: whole, with its audience decided. */
export interface ParsedFile {
  readonly name: string;
  /** Without front matter, line ends `\n`, no blank lines around it. */
  readonly text: string;
  /** It is a form that nobody filled in. */
  readonly isBlank: boolean;
  readonly audience: Audience;
  /** What its front matter says of that. */
  readonly declared: 'owner' | 'everyone' | undefined;
  /** Why it cannot be known for whom the file is, for people; it is then the owner's. */
  readonly problem: string | null;
}

/**
 * Decides what a file says and to whom. `hasTwin`: the file has a second name on disk; as that may be
 * `MEMORY.md`, nobody but the owner gets it.
 */
export function parseFile(name: string, raw: string, hasTwin: boolean): ParsedFile {
  const front = readFrontMatter(raw, AudienceFrontMatter);
  const declared = front.kind === 'parsed' ? front.data.audience : undefined;
  const problem = problemOf(front, hasTwin);
  const audience = audienceOf(name, problem === null ? declared : 'unknown');
  return { name, text: front.body, isBlank: isBlank(front.body), audience, declared, problem };
}

function problemOf(front: FrontMatter<object>, hasTwin: boolean): string | null {
  if (front.kind === 'refused') return front.reason;
  return hasTwin ? 'the file has a second name (a hard link)' : null;
}
