import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRecordingLogger } from '@parley/core/testing';
import { createPromptFiles, SOUL, type Workspace } from '@parley/workspace';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AssembledPrompt } from './assembled-prompt.ts';
import { createPromptAssembler, listDeclaredReads, type PromptAssembler } from './assembler.ts';
import { createBuiltInLayers, createLayerRegistry, readChannelFormats } from './layout.ts';
import { BUILT_IN_LAYOUTS } from './layouts.ts';
import {
  createSceneContext,
  GROUP_READERS,
  inspectPrompt,
  type PromptScene,
  SCENES,
} from './testing/example-scenes.ts';
import { createExampleWorkspace } from './testing/example-turn.ts';

const FORMATS = join(import.meta.dirname, '../../../config/channel-formats');
const layers = createLayerRegistry(createBuiltInLayers(await readChannelFormats(FORMATS)));

/** Phrases that occur only in the owner's private files and features. */
const PRIVATE = [
  'closed on Mondays.\n- Ann’s sister',
  'bookseller in Berlin',
  'forty copies',
  'Okafor',
  'Nordbuch',
  'tea to coffee',
  'window display',
  'Advent',
  '4915550123456',
];

let base: string;
const workspaces = new Map<PromptScene['workspace'], Workspace>();
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'parley-golden-'));
  for (const kind of ['lived-in', 'new', 'none'] as const) {
    workspaces.set(kind, await createExampleWorkspace(kind, base, GROUP_READERS));
  }
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function promptOf(assembler: PromptAssembler, scene: PromptScene): Promise<AssembledPrompt> {
  const workspace = workspaces.get(scene.workspace);
  if (workspace === undefined) throw new Error(`there is no workspace "${scene.workspace}"`);
  return assembler.assemble(await createSceneContext(scene, workspace));
}

describe.each(BUILT_IN_LAYOUTS)('prompts in the $name layout', (layout) => {
  const assembler = createPromptAssembler({ layers, layout });

  it.each(Object.entries(SCENES))('[P03] [P17] %s matches its golden file', async (name, scene) => {
    const page = inspectPrompt(await promptOf(assembler, scene), scene.title);
    await expect(page).toMatchFileSnapshot(`golden/${layout.name}/${name}.md`);
  });

  it.each(Object.entries(SCENES))(
    '[W02] [P13] %s keeps private text out, and ends correctly',
    async (_, scene) => {
      const prompt = await promptOf(assembler, scene);
      const said = [...prompt.system, ...prompt.userContext].map(({ text }) => text).join('\n');
      if (scene.context.reader.kind === 'guest') {
        for (const words of PRIVATE) expect(said).not.toContain(words);
      }
      const last = prompt.report.findLast(({ layer }) => layer !== 'context-end');
      expect(last?.layer).toBe('ephemeral');
    },
  );
});

it('[W09] no layer of any layout reads an undeclared workspace file', async () => {
  const { log, lines } = createRecordingLogger();
  const read = new Set<string>();
  for (const layout of BUILT_IN_LAYOUTS) {
    const declared = createPromptFiles(listDeclaredReads(layers, layout));
    const assembler = createPromptAssembler({ layers, layout, log });
    for (const scene of Object.values(SCENES)) {
      const workspace = workspaces.get(scene.workspace);
      if (workspace === undefined) throw new Error(`there is no workspace "${scene.workspace}"`);
      const { view, ...context } = await createSceneContext(scene, workspace);
      const recording: typeof view = {
        ...view,
        read(name, limit) {
          if (name !== SOUL) expect([name, declared.includes(name)]).toEqual([name, true]);
          read.add(name);
          return view.read(name, limit);
        },
      };
      await assembler.assemble({ ...context, view: recording });
    }
  }
  expect([...read].filter((name) => !name.startsWith('groups/')).toSorted()).toEqual([
    ...['AGENTS.md', 'BOOT.md', 'BOOTSTRAP.md', 'HEARTBEAT.md', 'IDENTITY.md', 'MEMORY.md'],
    ...['SOUL.md', 'TOOLS.md', 'USER.md', 'formats/discord.md', 'formats/html.md'],
    ...['formats/plain.md', 'formats/telegram.md', 'formats/whatsapp.md'],
    ...['memory/2026-11-20.md', 'memory/2026-11-21.md'],
  ]);
  expect(lines).toEqual([]);
});

it('[P03] every built-in layer occurs in at least one golden file', async () => {
  const present = new Set<string>();
  for (const layout of BUILT_IN_LAYOUTS) {
    const assembler = createPromptAssembler({ layers, layout });
    for (const scene of Object.values(SCENES)) {
      const { report } = await promptOf(assembler, scene);
      for (const { layer, outcome } of report) if (outcome === 'present') present.add(layer);
    }
  }
  expect(layers.ids.filter((id) => !present.has(id))).toEqual([]);
});
