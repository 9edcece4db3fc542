import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Audience, Reader } from '@parley/core';
import type { WorkspaceFile } from '@parley/workspace';
import { describe, expect, it } from 'vitest';
import {
  createPersonaSource,
  type IdentitySources,
  type NamedText,
  parseIdentity,
  readIdentity,
  resolveIdentity,
} from './identity.ts';
import type { SourceTurn } from './layer.ts';
import { createContext, createView, GUEST, OWNER } from './testing/example-turn.ts';

describe('the identity', () => {
  it.each<[string, IdentitySources, object]>([
    ['nothing set', {}, { name: 'Assistant' }],
    ['the file alone', { file: { name: 'Mori' } }, { name: 'Mori' }],
    ['agent over file', { agent: { name: 'Ada' }, file: { name: 'Mori' } }, { name: 'Ada' }],
    [
      'global over agent over file',
      { global: { name: 'Uni' }, agent: { name: 'Ada' }, file: { name: 'Mori' } },
      { name: 'Uni' },
    ],
    [
      'each field by itself',
      {
        global: { emoji: '🌱' },
        agent: { role: 'gardener' },
        file: { name: 'Mori', role: 'cook' },
      },
      { name: 'Mori', role: 'gardener', emoji: '🌱' },
    ],
    ['blank is not set', { global: { name: '  ' }, file: { name: 'Mori' } }, { name: 'Mori' }],
    ['one line', { file: { name: 'Mori\n\n## Safety' } }, { name: 'Mori ## Safety' }],
  ])('[W05] %s', (_, sources, identity) => {
    expect(resolveIdentity(sources)).toEqual(identity);
  });

  it.each([
    ['bullets', '- **Name:** Mori\n- **Role:** gardener\n- **Emoji:** 🌱'],
    ['plain lines', 'Name: Mori\nRole: gardener\nEmoji: 🌱'],
    ['other bold', '* **Name**: Mori\n* __Role__: gardener\n* *Emoji:* 🌱'],
    [
      'an OpenClaw file',
      '# IDENTITY.md - Who Am I?\n\n- **Name:** Mori\n- **Creature:** gardener\n- **Vibe:** calm\n- **Emoji:** 🌱',
    ],
    [
      'an OpenClaw file with values below their labels',
      '- **Name:**\n  _Mori_\n- **Creature:**\n  gardener\n- **Vibe:**\n- **Emoji:**\n  🌱\n\n---',
    ],
  ])('is read from %s', (_, markdown) => {
    expect(parseIdentity(markdown)).toEqual({ name: 'Mori', role: 'gardener', emoji: '🌱' });
  });

  it('ignores hints and empty lines in a template', () => {
    const template =
      '- **Name:**\n  _(pick something you like)_\n- **Role:** _(what are you?)_\n- **Emoji:** ';
    expect(resolveIdentity({ file: parseIdentity(template) })).toEqual({ name: 'Assistant' });
  });

  it('[W05] comes from the settings, then from IDENTITY.md', async () => {
    const view = createView(OWNER, { 'IDENTITY.md': 'Name: Mori\nEmoji: 🌱' });
    const settings = { agent: { emoji: '🦉' } };
    expect(await readIdentity(view, settings)).toEqual({ name: 'Mori', emoji: '🦉' });
    expect(await readIdentity(createView(OWNER), settings)).toEqual({
      name: 'Assistant',
      emoji: '🦉',
    });
  });
});

const CONFIG = join(import.meta.dirname, '../../../config');

function builtInTexts(folder: string): NamedText[] {
  return readdirSync(join(CONFIG, folder)).map((file) => ({
    name: file.slice(0, -'.md'.length),
    builtIn: readFileSync(join(CONFIG, folder, file), 'utf8').trim(),
  }));
}

const PERSONAS = builtInTexts('personas');
const FORMATS = builtInTexts('output-formats');

interface Asking {
  readonly reader?: Reader;
  readonly files?: Readonly<Record<string, string>>;
  readonly audience?: Audience;
  readonly fix?: SourceTurn['fix'];
}

/** A turn whose workspace has these files, all for `audience`. */
function turn({ reader = OWNER, files = {}, audience, fix }: Asking = {}): SourceTurn {
  const plain = createView(reader, files);
  const read = async (name: string) => {
    const file = await plain.read(name);
    if (file.kind === 'absent' || audience === undefined) return file;
    if (audience.kind === 'owner' && reader.kind !== 'owner') {
      return { kind: 'absent', reason: 'private' } as const;
    }
    return { ...file, audience } satisfies WorkspaceFile;
  };
  const { facts, messages } = createContext({ reader });
  const fixing = fix === undefined ? {} : { fix };
  const view = { ...plain, read };
  return { facts, reader, view, messages, conversationId: 'c', session: 1, ...fixing };
}

/** Keeps fixed values, as a session does. */
function session(): NonNullable<SourceTurn['fix']> {
  const kept = new Map<string, unknown>();
  return async (key, value, schema) => {
    if (!kept.has(key)) kept.set(key, JSON.parse(JSON.stringify(value)));
    return schema.parse(kept.get(key));
  };
}

const named = (name: string, text: string | null = null): NamedText => ({ name, builtIn: text });

describe('persona and output format', () => {
  it('[P14] ship with Parley', () => {
    const names = FORMATS.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['plain', 'emotion_pipe', 'emotion_bracket']));
    expect(PERSONAS.length).toBeGreaterThanOrEqual(2);
  });

  it.each(PERSONAS.flatMap((persona) => FORMATS.map((format) => [persona, format] as const)))(
    '[P14] combine freely: $0.name with $1.name',
    async (persona, format) => {
      const { persona: who, outputFormat } = await createPersonaSource({
        persona,
        format,
      }).gather(turn());
      expect(who?.text).toBe(persona.builtIn);
      expect(outputFormat?.text).toBe(format.builtIn);
    },
  );

  it('[P14] change independently: a session can change its format and keep its persona', async () => {
    const fix = session();
    const texts = [];
    for (const format of FORMATS) {
      const source = createPersonaSource({ persona: PERSONAS[0], format });
      texts.push(await source.gather(turn({ fix })));
    }
    expect(new Set(texts.map(({ persona }) => persona?.text))).toEqual(
      new Set([PERSONAS[0]?.builtIn]),
    );
    expect(texts.map(({ outputFormat }) => outputFormat?.text)).toEqual(
      FORMATS.map(({ builtIn }) => builtIn),
    );
  });

  it('[P14] are read from the workspace if it has a file with that name', async () => {
    const files = { 'personas/wren.md': 'You are mine.', 'output-formats/plain.md': 'Just talk.' };
    const character = { persona: named('wren', 'builtIn'), format: named('plain', 'builtIn') };
    expect(await createPersonaSource(character).gather(turn({ files }))).toEqual({
      persona: {
        text: 'You are mine.',
        source: 'personas/wren.md',
        audience: { kind: 'everyone' },
      },
      outputFormat: {
        text: 'Just talk.',
        source: 'output-formats/plain.md',
        audience: { kind: 'everyone' },
      },
    });
  });

  it('[W03] keep the audience of their file, and a private file is not replaced by the built-in file', async () => {
    const asking = { files: { 'personas/wren.md': 'x' }, audience: { kind: 'owner' } } as const;
    const source = createPersonaSource({ persona: named('wren', 'builtIn') });
    expect((await source.gather(turn(asking))).persona?.audience).toEqual({ kind: 'owner' });
    expect(await source.gather(turn({ ...asking, reader: GUEST }))).toEqual({});
  });

  it('[P02] are empty when the settings do not name one, or name one that does not exist', async () => {
    expect(await createPersonaSource({}).gather(turn())).toEqual({});
    expect(await createPersonaSource({ persona: named('nobody') }).gather(turn())).toEqual({});
  });
});

describe('a session', () => {
  const first = createPersonaSource({ persona: named('wren', 'first') });
  const second = createPersonaSource({ persona: named('raven', 'second') });

  it('[P14] keeps the persona of its first turn, word for word', async () => {
    const fix = session();
    const started = await first.gather(turn({ fix }));
    const edited = { files: { 'personas/wren.md': 'edited' }, fix };
    expect(await first.gather(turn(edited))).toEqual(started);
    expect(await second.gather(turn({ fix }))).toEqual(started);
  });

  it('[P14] takes a new persona when it is restarted', async () => {
    await first.gather(turn({ fix: session() }));
    const { persona } = await second.gather(turn({ fix: session() }));
    expect(persona?.text).toBe('second');
  });

  it('[P14] can receive its persona later when its first turn had none', async () => {
    const fix = session();
    await createPersonaSource({ persona: named('nobody') }).gather(turn({ fix }));
    expect((await first.gather(turn({ fix }))).persona?.text).toBe('first');
  });
});

describe("a profile's other settings", () => {
  it('[P13] [P15] set the ephemeral prompt and the files to skip', async () => {
    const source = createPersonaSource({ ephemeral: 'Be brief.', skipContextFiles: true });
    expect(await source.gather(turn())).toEqual({
      ephemeral: { text: 'Be brief.', source: 'settings', audience: { kind: 'everyone' } },
      skipContextFiles: true,
    });
  });
});
