// `npm run simulation:mutations [-- --only TEXT]`: plants one fault after the other and says how soon it is found.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { MUTATIONS, type Mutation } from './mutations.ts';

const { values } = parseArgs({
  options: { only: { type: 'string' }, most: { type: 'string', default: '30' } },
});
const MAIN = new URL('main.ts', import.meta.url).pathname;
/** A run that takes longer than this hangs. In ms of the machine. */
const LONGEST_MS = 900_000;

interface Found {
  readonly seeds: number;
  readonly violation: string;
}

/** Null where no seed has noticed it. Throws where the fault could not be planted. */
function find({ name, scenes, faults, within }: Mutation): Found | null {
  const most = within ?? Number(values.most);
  const args = ['--mutation', name, '--seeds', `1..${most}`, '--until-failure'];
  const chosen = [
    ...scenes.flatMap((scene) => ['--scene', scene]),
    ...(faults ? ['--faults', faults] : []),
  ];
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, ...args, ...chosen], {
    encoding: 'utf8',
    timeout: LONGEST_MS,
  });
  const failed = stdout.split('\n').filter((line) => line.includes(': FAILED '));
  const [first] = failed;
  if (first === undefined && status !== 0) throw new Error(`${name}: ${stderr.slice(-500)}`);
  if (first === undefined) return null;
  const seeds = stdout.split('\n').filter((line) => line.startsWith('seed ')).length;
  return { seeds, violation: first.replace(/^.*FAILED /, '') };
}

let missed = 0;
for (const mutation of MUTATIONS) {
  if (values.only !== undefined && !mutation.name.includes(values.only)) continue;
  const found = find(mutation);
  const { name, breaks, within } = mutation;
  const result =
    found === null
      ? 'NOT FOUND'
      : `found with seed ${found.seeds}: ${found.violation.slice(0, 120)}`;
  const known = within === null ? ' (a known hole)' : '';
  process.stdout.write(`[${breaks}] ${name}: ${result}${found === null ? known : ''}\n`);
  if (found === null && within !== null) missed += 1;
}
process.stdout.write(`${MUTATIONS.length} planted faults, ${missed} missed that must be found\n`);
process.exitCode = missed === 0 ? 0 : 1;
