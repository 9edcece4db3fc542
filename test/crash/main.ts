import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildBundle } from '../services/bundle.ts';
import { DEPLOYMENTS } from './deployment.ts';
import { listKillSites } from './kill.ts';
import { distributeConversations } from './people.ts';
import { runSeries, type SeriesResult } from './series.ts';
import { addTallies, type ChannelTally, NOTHING } from './tally.ts';

// The long form of the crash matrix: every site, all channels, the requested number of questions,
// and tables of results.

const { values } = parseArgs({
  options: {
    conversations: { type: 'string', default: '1000' },
    messages: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '4' },
    deployment: { type: 'string', multiple: true },
    site: { type: 'string', multiple: true },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
  },
});

const COLUMNS: readonly (readonly [title: string, value: (tally: ChannelTally) => number])[] = [
  ['chats', (tally) => tally.conversations],
  ['questions', ({ questions }) => questions],
  ['lost', ({ lost }) => lost],
  ['doubled', ({ doubled }) => doubled],
  ['out of order', ({ outOfOrder }) => outOfOrder],
  ['elsewhere', ({ misdirected }) => misdirected],
  ['uncertain', ({ uncertain }) => uncertain],
  ['needless', ({ needless }) => needless],
  ['untold', ({ untold }) => untold],
  ['failed', ({ failed }) => failed],
];

await buildBundle();
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const root = mkdtempSync(join(tmpdir(), 'parley-crash-'));
let faults = 0;
for (const deployment of DEPLOYMENTS) {
  if (values.deployment?.includes(deployment) === false) continue;
  const sites = listKillSites(deployment).filter((site) => values.site?.includes(site) ?? true);
  const result = await runSeries({
    deployment,
    folder: join(root, deployment),
    people: distributeConversations(Number(values.conversations)),
    questions: Number(values.messages),
    sites,
    rounds: Number(values.rounds),
    pauseMs: 5,
    mostWaiting: 100,
    heardBetween: Math.min(100, Number(values.conversations)),
    seed,
    ...(values.quiet ? {} : { note: (line) => console.error(`${deployment}: ${line}`) }),
  });
  faults += printResult(deployment, result);
}
if (values.keep) console.log(`The data folders are in ${root}.`);
else rmSync(root, { recursive: true });
process.exitCode = faults === 0 ? 0 : 1;

/** Returns the number of broken promises. */
function printResult(deployment: string, result: SeriesResult): number {
  const { killed, tallies, givenUp, crashes, failedStarts, askedAgain, ms } = result;
  const deaths = [...killed.values()].reduce((sum, died) => sum + died, 0);
  console.log(
    `\n${deployment}: ${deaths} kills in ${(ms / 60_000).toFixed(1)} min, seed ${seed}\n`,
  );
  console.log('| killed at | died |\n|---|---:|');
  for (const [site, died] of killed) console.log(`| ${site} | ${died} |`);
  console.log(`\n| | ${COLUMNS.map(([title]) => title).join(' | ')} |`);
  console.log(`|---|${'---:|'.repeat(COLUMNS.length)}`);
  const all = [...tallies.values()].reduce(addTallies, NOTHING);
  for (const [channel, tally] of [...tallies, ['all', all] as const]) {
    console.log(`| ${channel} | ${COLUMNS.map(([, value]) => value(tally)).join(' | ')} |`);
  }
  console.log(
    `\nasked again: ${askedAgain}; starts that failed: ${failedStarts}; turns given up: ${givenUp}`,
  );
  for (const fault of all.faults) console.log(fault);
  for (const words of crashes) console.log(`Ended by itself: ${words}`);
  return crashes.length + countFaults(all) + countUncertainElsewhere(result);
}

function countFaults({
  lost,
  doubled,
  outOfOrder,
  misdirected,
  untold,
  failed,
}: ChannelTally): number {
  return lost + doubled + outOfOrder + misdirected + untold + failed;
}

/** Only Telegram does not recognize a repeated send. */
function countUncertainElsewhere({ tallies }: SeriesResult): number {
  const others = [...tallies].filter(([channel]) => channel !== 'telegram');
  return others.reduce((sum, [, { uncertain }]) => sum + uncertain, 0);
}
