import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeText, findPatternRisk, type NewId, reasonOf } from '@parley/core';
import { parse } from 'yaml';
import { z } from 'zod';
import { AudienceFrontMatter } from './audience.ts';
import type { FileFault } from './file-cache.ts';
import { type ParsedFile, parseFile, readFrontMatter } from './front-matter.ts';
import { type FoundFile, MAX_BYTES, WorkspaceError, walkPath } from './paths.ts';
import { isBlank } from './text.ts';
import { createLocalLock, type WorkspaceLock } from './workspace-lock.ts';
import { type DiskResult, readFileForWrite, refreshCache, writeFileInside } from './write-file.ts';
import { getReusableFrontMatter } from './write-rules.ts';

/** The file whose text is managed elsewhere (W06). */
export const SOUL = 'SOUL.md';

const PLACE = { name: SOUL, segments: [SOUL] } as const;

/** The content of SOUL.md. */
export type SoulFileContent =
  | {
      readonly kind: 'file';
      /** The text without front matter. */
      readonly text: string;
      /** The front matter to put before the text; empty if there is none. */
      readonly head: string;
      /** Whether the text is an empty form. */
      readonly isBlank: boolean;
    }
  | { readonly kind: 'missing' }
  /** The path is a link, a folder, or unreadable, and is therefore neither read nor replaced. */
  | { readonly kind: 'refusal'; readonly detail: string };

/** Replaces SOUL.md atomically; never throws. */
export type WriteSoul = (text: string, head: string) => Promise<DiskResult>;

/** The readable copy of an agent's soul in its workspace; views cannot write it. */
export type SoulFile = ReturnType<typeof openSoulFile>;

export function openSoulFile(
  folder: string,
  newId: NewId,
  lock: WorkspaceLock = createLocalLock(),
) {
  return {
    /**
     * Returns a fingerprint that changes whenever the file does; `changedAt` is in ms. The call
     * costs one `lstat`; throws disk errors.
     */
    stat(): Pick<FoundFile, 'fingerprint' | 'changedAt'> | null {
      const found = walkPath(folder, PLACE);
      return found.kind === 'file' ? found.file : null;
    },
    async read(): Promise<SoulFileContent> {
      const found = walkPath(folder, PLACE);
      if (found.kind === 'file' && found.file.bytes > MAX_BYTES)
        return refuseSoul('it is too large');
      const content = await readFileForWrite(folder, PLACE);
      if (content.kind === 'refused') return refuseSoul(content.detail);
      if (content.text === null) return { kind: 'missing' };
      const front = readFrontMatter(content.text, AudienceFrontMatter);
      const { body } = front;
      return {
        kind: 'file',
        text: body,
        head: getReusableFrontMatter(front),
        isBlank: isBlank(body),
      };
    },
    /** Runs work while no other process writes to the workspace; the work may write the file. */
    alone: <T>(work: (write: WriteSoul) => Promise<T>): Promise<T> =>
      lock.hold(async (hold) => {
        await refreshCache(folder, PLACE);
        return work((text, head) =>
          writeFileInside(folder, PLACE, Buffer.from(`${head}${text}\n`), { newId, hold }),
        );
      }),
  };
}

function refuseSoul(detail: string): SoulFileContent {
  return { kind: 'refusal', detail };
}

/** Returns the text of a soul as a view does: without front matter and surrounding blank lines. */
export function getSoulText(raw: string): string {
  return readFrontMatter(raw, AudienceFrontMatter).body;
}

/** A file whose text is managed elsewhere; the file on disk is only a copy (W06). */
export interface ManagedFile {
  readonly name: string;
  /**
   * Reads the current text, and the front matter to use if the file does not exist; returns null to
   * use the file itself.
   */
  current(): Promise<{ readonly text: string; readonly head: string } | null>;
}

/**
 * Returns the file as readers get it: its audience comes from the file on disk, its text from the
 * managed source.
 */
export async function withManagedFile(
  governed: ManagedFile,
  found: ParsedFile | FileFault,
): Promise<ParsedFile | FileFault> {
  const current = await governed.current();
  if (current === null) return found;
  const { text, head } = current;
  const file = 'reason' in found ? parseFile(governed.name, `${head}${text}`, false) : found;
  return { ...file, text, isBlank: isBlank(text) };
}

const Pattern = z
  .string()
  .min(1)
  .transform((source, context) => {
    const risk = findPatternRisk(source, 'iu');
    if (risk === null) return new RegExp(source, 'iu');
    context.addIssue({ code: 'custom', message: risk });
    return z.NEVER;
  });

const Scenario = z.strictObject({
  id: z.string().min(1),
  message: z.string().min(1),
  good: z.string().min(1),
  must: z.array(Pattern).default([]),
  mustNot: z.array(Pattern).default([]),
});

/** A situation in which every soul is tested before it is used (W06). */
export interface SoulScenario extends z.infer<typeof Scenario> {}

/**
 * Reads the scenarios from all `.yaml` files in `folder`, by name. Throws WorkspaceError
 * `soul-scenarios`, naming the file and what is wrong with it.
 */
export async function readSoulScenarios(folder: string): Promise<readonly SoulScenario[]> {
  const names = await listScenarioFiles(folder);
  const lists = await Promise.all(names.map((name) => readScenarios(join(folder, name))));
  return lists.flat();
}

async function listScenarioFiles(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort();
  } catch (error) {
    throw createUnusableError(folder, error);
  }
}

async function readScenarios(path: string): Promise<readonly SoulScenario[]> {
  try {
    return z.array(Scenario).parse(parse(decodeText(await readFile(path)).text));
  } catch (error) {
    throw createUnusableError(path, error);
  }
}

function createUnusableError(path: string, error: unknown): WorkspaceError {
  const why = error instanceof z.ZodError ? z.prettifyError(error) : reasonOf(error);
  return new WorkspaceError(
    'soul-scenarios',
    `The scenarios for SOUL.md in ${path} cannot be used (${why}). Fix that file, or set soul.judge to false.`,
    error,
  );
}
