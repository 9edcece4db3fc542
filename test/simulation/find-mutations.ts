// `npm run simulation:mutations [-- --only TEXT]` plants one fault after another and reports how
// soon each is found.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { MUTATIONS, type Mutation } from './mutations.ts';

const { values } = parseArgs({
  options: {
    /** Part of a name, or a range of numbers such as `3..8`. */
    only: { type: 'string' },
    /** The maximum number of seeds per fault. */
    most: { type: 'string', default: '30' },
  },
});
const MAIN = new URL('main.ts', import.meta.url).pathname;
/** A run that takes longer is considered hung. In ms of real time. */
const MAX_MS = 900_000;

interface FoundFailure {
  readonly seeds: number;
  readonly violation: string;
}

/**
 * Null when no seed noticed the fault. Seeds that fail even without the fault are ignored. Throws
 * when the fault could not be planted.
 */
function findFailingSeed({ name, scenes, faults, within }: Mutation): FoundFailure | null {
  const most = Math.min(within ?? Number.POSITIVE_INFINITY, Number(values.most));
  const chosen = [
    ...scenes.flatMap((scene) => ['--scene', scene]),
    ...(faults ? ['--faults', faults] : []),
  ];
  for (let from = 1; from <= most; ) {
    const failed = findFirstFailure(['--mutation', name, '--seeds', `${from}..${most}`, ...chosen]);
    if (failed === null) return null;
    const { seed: seeds, violation } = failed;
    if (findFirstFailure(['--seeds', `${seeds}`, ...chosen]) === null) return { seeds, violation };
    from = seeds + 1;
  }
  return null;
}

function findFirstFailure(
  args: readonly string[],
): { readonly seed: number; readonly violation: string } | null {
  const all = [MAIN, ...args, '--until-failure'];
  const options = { encoding: 'utf8', timeout: MAX_MS } as const;
  const { stdout, stderr, status } = spawnSync(process.execPath, all, options);
  const [, seed, violation] = /^seed (\d+) .*: FAILED (.*)$/m.exec(stdout) ?? [];
  if (violation !== undefined) return { seed: Number(seed), violation };
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr.slice(-500)}`);
  return null;
}

function isRequested({ name }: Mutation, index: number): boolean {
  const { only = '' } = values;
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(only) ?? [];
  if (from === undefined) return name.includes(only);
  return index + 1 >= Number(from) && index + 1 <= Number(to);
}

let [looked, missed] = [0, 0];
for (const mutation of MUTATIONS.filter(isRequested)) {
  looked += 1;
  const found = findFailingSeed(mutation);
  const { name, breaks, within } = mutation;
  const result =
    found === null
      ? 'NOT FOUND'
      : `found with seed ${found.seeds}: ${found.violation.slice(0, 120)}`;
  const known = within === null ? ' (a known hole)' : '';
  process.stdout.write(`[${breaks}] ${name}: ${result}${found === null ? known : ''}\n`);
  if (found === null && within !== null) missed += 1;
}
process.stdout.write(`${looked} planted faults, ${missed} missed that should be found\n`);
process.exitCode = missed === 0 ? 0 : 1;
