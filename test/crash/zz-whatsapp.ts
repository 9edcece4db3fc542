import { mkdtempSync } from 'node:fs';
import { runSeries } from './series.ts';

const folder = mkdtempSync('/tmp/parley-crash-wa-');
console.log(folder);
const sites = process.argv[2]?.split(',') ?? [
  'parley',
  'part-sent',
  'inbox-committed',
  'received',
  'start-up',
];
const r = await runSeries({
  deployment: 'embedded',
  folder,
  people: { telegram: 0, discord: 0, whatsapp: Number(process.argv[4] ?? 10), web: 0 },
  questions: Number(process.argv[3] ?? 300),
  sites,
  rounds: 1,
  seed: 5,
  note: console.log,
});
console.log(JSON.stringify([...r.tallies]), r.crashes, r.ms);
