/**
 * Runs models in Quint's simulator, the one that is written in TypeScript: the command `quint run` does the same, but
 * reads the grammar again for each model, and its other simulator is a program that it downloads. Prints what Quint
 * prints, and behind it a line `NAME: ok` or `NAME: MESSAGE` for each model.
 *
 *   node model-program.ts '{"seed":1,"samples":100,"steps":40,"traces":0,"folder":"/tmp/traces"}' sound.qnt no-fence.qnt
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { load, parse, runSimulator, typecheck } from '@informalsystems/quint/dist/src/cliCommands.js';
import { z } from 'zod';

const Options = z.strictObject({
  seed: z.number(),
  samples: z.number(),
  steps: z.number(),
  /** How many traces are written to `folder`, as NAME-0.itf.json and so on. */
  traces: z.number(),
  folder: z.string(),
});

const [json = '{}', ...models] = process.argv.slice(2);
const options = Options.parse(JSON.parse(json));
for (const input of models) {
  const name = basename(input, '.qnt');
  process.stdout.write(`${name}: ${await simulate(input, name)}\n`);
}

async function simulate(input: string, name: string): Promise<string> {
  const { seed, samples, steps, traces, folder } = options;
  const rules = readFileSync(input, 'utf8').match(/(?<=^ {2}val )rule\d+_\w+/gm) ?? [];
  const args = {
    ...{ input, main: 'lane_and_outbox', backend: 'typescript', seed: BigInt(seed) },
    ...{ init: 'init', step: 'step', invariant: 'true', invariants: rules, witnesses: [], hide: [] },
    ...{ maxSamples: samples, maxSteps: steps, mbt: false, verbosity: 1 },
    nTraces: Math.max(1, traces),
    ...(traces > 0 && { outItf: join(folder, `${name}-{seq}.itf.json`) }),
  };
  const loaded = await load(args);
  if (loaded.isLeft()) return loaded.value.msg;
  const parsed = await parse(loaded.value);
  if (parsed.isLeft()) return parsed.value.msg;
  const typed = await typecheck(parsed.value);
  if (typed.isLeft()) return typed.value.msg;
  const outcome = await runSimulator(typed.value);
  return outcome.isLeft() ? outcome.value.msg : 'ok';
}
