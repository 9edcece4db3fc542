import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reasonOf } from '@parley/contracts';
import { parse } from 'yaml';
import { z } from 'zod';
import { WorkspaceError } from '../workspace-error.ts';

const Pattern = z
  .string()
  .min(1)
  .transform((source, context) => {
    try {
      return new RegExp(source, 'iu');
    } catch (error) {
      context.addIssue({ code: 'custom', message: reasonOf(error) });
      return z.NEVER;
    }
  });

const Scenario = z.strictObject({
  id: z.string().min(1),
  message: z.string().min(1),
  good: z.string().min(1),
  must: z.array(Pattern).default([]),
  mustNot: z.array(Pattern).default([]),
});

/** A situation that every soul is put into before it comes into use (W06). */
export interface SoulScenario extends z.infer<typeof Scenario> {}

/**
 * Reads the scenarios in `folder`, all its `.yaml` files by name. Throws WorkspaceError
 * `soul-scenarios`, naming the file and what is wrong with it.
 */
export async function readSoulScenarios(folder: string): Promise<readonly SoulScenario[]> {
  const names = await namesIn(folder);
  const lists = await Promise.all(names.map((name) => readList(join(folder, name))));
  return lists.flat();
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort();
  } catch (error) {
    throw unusable(folder, error);
  }
}

async function readList(path: string): Promise<readonly SoulScenario[]> {
  try {
    return z.array(Scenario).parse(parse(await readFile(path, 'utf8')));
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): WorkspaceError {
  const why = error instanceof z.ZodError ? z.prettifyError(error) : reasonOf(error);
  return new WorkspaceError(
    'soul-scenarios',
    `The scenarios for SOUL.md in ${path} cannot be used (${why}). Mend that file, or set soul.judge to false.`,
    error,
  );
}
