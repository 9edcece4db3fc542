/**
 * Runs models in Quint's TypeScript simulator. The command `quint run` would start again for each
 * model, and its other simulator is a program that it downloads. Prints Quint's output, followed by
 * a line `NAME: ok` or `NAME: MESSAGE` for each model. Only the first model is type-checked; the
 * other models differ from it in one line. The number of runs precedes each model.
 *
 *   node model-program.ts '{"seed":1,"steps":40,"traces":8,"folder":"/tmp/traces"}' 100 sound.qnt 400 no-fence.qnt
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  load,
  parse,
  runSimulator,
  typecheck,
} from '@informalsystems/quint/dist/src/cliCommands.js';
import { z } from 'zod';

const Options = z.strictObject({
  seed: z.number(),
  steps: z.number(),
  /**
   * The number of traces that the first model writes to `folder`, as NAME-0.itf.json and so on;
   * every other model writes one.
   */
  traces: z.number(),
  folder: z.string(),
});

const [json = '{}', ...args] = process.argv.slice(2);
const options = Options.parse(JSON.parse(json));
for (let nth = 0; nth + 1 < args.length; nth += 2) {
  const [runs = '', input = ''] = args.slice(nth);
  const name = basename(input, '.qnt');
  const model = { input, name, runs: Number(runs), isFirst: nth === 0 };
  process.stdout.write(`${name}: ${await simulateModel(model)}\n`);
}

interface ModelRun {
  readonly input: string;
  readonly name: string;
  readonly runs: number;
  readonly isFirst: boolean;
}

async function simulateModel({ input, name, runs, isFirst }: ModelRun): Promise<string> {
  const { seed, steps, traces, folder } = options;
  const rules = readFileSync(input, 'utf8').match(/(?<=^ {2}val )rule\d+_\w+/gm) ?? [];
  const settings = {
    ...{ input, main: 'lane_and_outbox', backend: 'typescript', seed: BigInt(seed) },
    ...{
      init: 'init',
      step: 'step',
      invariant: 'true',
      invariants: rules,
      witnesses: [],
      hide: [],
    },
    ...{ maxSamples: runs, maxSteps: steps, mbt: false, verbosity: 1 },
    nTraces: isFirst ? traces : 1,
    outItf: join(folder, `${name}-{seq}.itf.json`),
  };
  const loaded = await load(settings);
  if (loaded.isLeft()) return loaded.value.msg;
  const parsed = await parse(loaded.value);
  if (parsed.isLeft()) return parsed.value.msg;
  if (isFirst) {
    const typed = await typecheck(parsed.value);
    if (typed.isLeft()) return typed.value.msg;
  }
  const outcome = await runSimulator({
    ...parsed.value,
    types: new Map(),
    effects: new Map(),
    modes: new Map(),
  });
  return outcome.isLeft() ? outcome.value.msg : 'ok';
}
