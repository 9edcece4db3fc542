import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { ModelSettings } from '@parley/models';
import { loadSettings, settingsJsonSchema } from '@parley/settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CONFIG = new URL('../../config/', import.meta.url);
const schemas = {
  modelSchema: ModelSettings,
  channelSchemas: Object.fromEntries(CHANNEL_DEFINITIONS.map(({ id, settings }) => [id, settings])),
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(yaml: string) {
  const file = join(folder, 'parley.yaml');
  writeFileSync(file, yaml);
  const env = {
    TELEGRAM_BOT_TOKEN: `123456:${'A'.repeat(35)}`,
    TELEGRAM_WEBHOOK_SECRET: 'a-secret-of-this-webhook',
    DISCORD_BOT_TOKEN: 'MTkw.abc.def',
    POSTGRES_PASSWORD: 'pg',
  };
  return loadSettings({ file, env, dataFolder: folder, ...schemas });
}

/** As the repository's formatter writes it: a list of words stands on one line where it fits. */
function formatted(schema: object): string {
  const list = /^( *(?:"[^"]*": )?)\[\n([^[\]{}]*?)\n *\](,?)$/gm;
  const oneLine = (all: string, before: string, inside: string, comma: string) => {
    const line = `${before}[${inside.trim().replaceAll(/,\n */g, ', ')}]${comma}`;
    return line.length <= 100 ? line : all;
  };
  return `${JSON.stringify(schema, null, 2).replaceAll(list, oneLine)}\n`;
}

describe('the files in config/', () => {
  it('[D12] give editors the schema that the running program checks by (vitest -u writes it)', async () => {
    const text = formatted(settingsJsonSchema(schemas));
    await expect(text).toMatchFileSnapshot('../../config/parley.schema.json');
  });

  it('[D12] hold a template whose every commented line is a valid setting', () => {
    const template = readFileSync(new URL('parley.example.yaml', CONFIG), 'utf8');
    const uncommented = template.replaceAll(/^#(?=\w| {2,}\S)/gm, '');
    const result = load(uncommented);
    expect(result).toMatchObject({ kind: 'ok', warnings: [] });
    if (result.kind !== 'ok') return;
    expect(Object.values(result.channels)).toEqual([
      expect.objectContaining({ kind: 'ok', channel: 'telegram', activation: 'mention' }),
      expect.objectContaining({ kind: 'ok', channel: 'discord' }),
      expect.objectContaining({ kind: 'ok', channel: 'whatsapp' }),
    ]);
    const sections = [...template.matchAll(/^#(\w+):/gm)].map((match) => match[1]);
    expect(Object.keys(result.settings)).toEqual(
      expect.arrayContaining(sections.filter((section) => section !== 'channels')),
    );
  });
});
