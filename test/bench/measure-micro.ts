import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@parley/contracts';
import { EXAMPLE_FACTS, EXAMPLE_MESSAGE } from '@parley/contracts/testing';
import { render } from '@parley/markup';
import { createAssembler, createLayerRegistry, houseLayers, layoutNamed } from '@parley/prompt';
import { openWorkspace } from '@parley/workspace';
import { inNewFolder } from './bench-room.ts';
import { Collector, type Figure, type Rounds } from './figure.ts';
import { LONG_ANSWER } from './sample-answer.ts';

const TEMPLATES = join(import.meta.dirname, '../../config/workspace');
const OWNER = { kind: 'owner', conversationId: 'telegram:default:42' } as const;

/**
 * What Parley itself computes for one answer, in this process and warm. Beside it the least that could
 * take its place: reading the same files and joining them, and escaping the text for HTML.
 */
export async function measureMicro(rounds: Rounds): Promise<Figure[]> {
  const about = { section: 'micro', unit: 'ms' } as const;
  const assembly = await inNewFolder((folder) => timeAssembly(folder, rounds.micro));
  const rendering = await timeRendering(rounds.micro);
  return [
    assembly.figure({ ...about, name: 'prompt assembly (bare: read and join)' }),
    rendering.figure({ ...about, name: 'answer of 2 kB to Telegram (bare: escape)' }),
  ];
}

async function timeAssembly(folder: string, repetitions: number): Promise<Collector> {
  const home = join(folder, 'workspace');
  const workspace = await openWorkspace({ folder: home, templates: TEMPLATES, log: silentLogger });
  const layers = createLayerRegistry(houseLayers());
  const prompt = createAssembler({ layers, layout: layoutNamed('parley'), log: silentLogger });
  const facts = { ...EXAMPLE_FACTS, workspace: home };
  return inTurnsHere(repetitions, {
    parley: () =>
      prompt.assemble({
        facts,
        reader: OWNER,
        view: workspace.for(OWNER),
        identity: { name: 'Parley' },
        messages: [EXAMPLE_MESSAGE],
        home: homedir(),
      }),
    bare: () =>
      ['AGENTS.md', 'SOUL.md', 'IDENTITY.md']
        .map((name) => readFileSync(join(home, name), 'utf8'))
        .join('\n\n'),
  });
}

function timeRendering(repetitions: number): Promise<Collector> {
  const target = { dialect: 'telegram', maxLength: 4096, unit: 'utf16' } as const;
  return inTurnsHere(repetitions, {
    parley: () => render(LONG_ANSWER, target),
    bare: () =>
      LONG_ANSWER.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  });
}

async function inTurnsHere(
  repetitions: number,
  work: Readonly<Record<'parley' | 'bare', () => unknown>>,
): Promise<Collector> {
  const times = new Collector();
  for (let round = -repetitions; round < repetitions; round += 1) {
    for (const name of ['parley', 'bare'] as const) {
      const before = performance.now();
      await work[name]();
      // The first half warms up.
      if (round >= 0) times.add(name, performance.now() - before);
    }
  }
  return times;
}
