import { z } from 'zod';
import type { EndedCommand } from './release-process.ts';

type Output = Pick<EndedCommand, 'code' | 'out' | 'err'>;

/**
 * Compares two outputs of the same `--json` command. Everything that the first one contains must be
 * in the second one, which may have more. Returns the place of the first difference, or null.
 */
export function compareFacts(was: string, is: string): string | null {
  const [before, after] = [parseJson(was), parseJson(is)];
  if (before === undefined) return null;
  return after === undefined ? 'the output is not JSON' : findLost(before, after, '');
}

/** Values that depend on the moment of the question. */
const OF_THE_MOMENT = /^(at|now|since|until|ageMs|checkedAt|tookMs|nextAt)$/;

function findLost(was: unknown, is: unknown, path: string): string | null {
  if (typeof was !== 'object' || was === null)
    return Object.is(was, is) ? null : `${path} was ${show(was)} and is ${show(is)}`;
  if (typeof is !== 'object' || is === null) return `${path} is missing`;
  const after = new Map(Object.entries(is));
  for (const [key, value] of Object.entries(was)) {
    if (OF_THE_MOMENT.test(key)) continue;
    const inner = path === '' ? key : `${path}.${key}`;
    if (!after.has(key)) return `${inner} is missing`;
    const lost = findLost(value, after.get(key), inner);
    if (lost !== null) return lost;
  }
  return null;
}

const show = (value: unknown): string => (JSON.stringify(value) ?? 'missing').slice(0, 60);

const Problems = z.object({
  problems: z.array(z.looseObject({ path: z.unknown() })).default([]),
});

/** Finds the first problem of the settings that only the new release reports; null if there is none. */
export function findNewProblems(was: Output, is: Output): string | null {
  if (is.code === 0) return null;
  const parse = ({ out }: Output) => Problems.safeParse(parseJson(out)).data?.problems;
  const [before, after] = [parse(was) ?? [], parse(is)];
  if (after === undefined) {
    const said = (is.err || is.out).trim().split('\n')[0] ?? '';
    return was.code === is.code ? null : `code ${is.code}, ${said.slice(0, 200)}`;
  }
  const known = new Set(before.map(({ path }) => JSON.stringify(path)));
  const found = after.find(({ path }) => !known.has(JSON.stringify(path)));
  return found === undefined ? null : JSON.stringify(found).slice(0, 300);
}

const Doctor = z.object({
  checks: z.array(
    z.object({
      ...{ check: z.string(), status: z.string(), found: z.string() },
      subject: z.string().optional(),
    }),
  ),
});

/** Lists the checks of the doctor that fail only in the new release. */
export function findNewFailures(was: Output, is: Output): readonly string[] {
  const failed = ({ out }: Output) =>
    Doctor.safeParse(parseJson(out)).data?.checks.filter(({ status }) => status === 'failed');
  const [before, after] = [failed(was), failed(is)];
  if (before === undefined) return [];
  if (after === undefined) return [`it ended with code ${is.code} and reported nothing`];
  const known = new Set(before.map(({ check, subject }) => `${check} ${subject}`));
  return after
    .filter(({ check, subject }) => !known.has(`${check} ${subject}`))
    .map(({ check, found }) => `${check}: ${found.slice(0, 200)}`);
}

const Replay = z.object({
  ...{ same: z.int(), changed: z.int(), incomplete: z.int(), diverged: z.int() },
});

export type ReplayResult =
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly reason: string }
  | ({ readonly kind: 'replayed' } & z.infer<typeof Replay>);

/** Reads the result of `parley replay`, which an older release may not have. */
export function readReplay({ code, out, err }: Output): ReplayResult {
  if (isUnknownCommand({ code, err })) return { kind: 'absent' };
  const parsed = Replay.safeParse(parseJson(out));
  if (code === 0 && parsed.success) return { kind: 'replayed', ...parsed.data };
  return {
    kind: 'failed',
    reason: `code ${code}, ${err.trim().split('\n')[0] ?? ''}`.slice(0, 300),
  };
}

/** Whether the command line ended because it does not know the command. */
export function isUnknownCommand({ code, err }: Pick<Output, 'code' | 'err'>): boolean {
  return code === 2 && /unknown command/i.test(err);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
