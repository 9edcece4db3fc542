import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPromptAssembler } from './assembler.ts';
import { createPersonaSource, type NamedText } from './identity.ts';
import { createBuiltInLayers, createLayerRegistry } from './layout.ts';
import { getLayout } from './layouts.ts';
import { createContext } from './testing/example-turn.ts';

const CONFIG = join(import.meta.dirname, '../../../config');
const LAYOUTS = ['parley', 'mushroom', 'lab', 'zeus', 'openclaw', 'neomagi'];

function builtInTexts(folder: string): NamedText[] {
  return readdirSync(join(CONFIG, folder)).map((file) => ({
    name: file.slice(0, -'.md'.length),
    builtIn: readFileSync(join(CONFIG, folder, file), 'utf8').trim(),
  }));
}

const rows = LAYOUTS.flatMap((layout) =>
  builtInTexts('personas').flatMap((persona) =>
    builtInTexts('output-formats').map((format) => ({ layout, persona, format })),
  ),
);

describe('persona, output format and layout', () => {
  it.each(rows)(
    '[P14] includes $persona.name and $format.name exactly once in the $layout layout',
    async ({ layout, persona, format }) => {
      const context = createContext({});
      const turn = { ...context, conversationId: 'c', session: 1 };
      const ephemeral = 'Answer in three words.';
      const features = await createPersonaSource({ persona, format, ephemeral }).gather(turn);
      const layers = createLayerRegistry(createBuiltInLayers());
      const assembler = createPromptAssembler({ layers, layout: getLayout(layout) });
      const { system, userContext } = await assembler.assemble({ ...context, ...features });
      const told = [...system, ...userContext].map(({ text }) => text).join('\n\n');
      for (const text of [persona.builtIn, format.builtIn, ephemeral]) {
        expect(told.split(text ?? '').length).toBe(2);
      }
    },
  );
});
