import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { getMessageText } from '../model/chat-request.ts';
import { makeDataFolder, runCommand, runParley } from './parley-process.ts';
import { ANN, BO, GROUP, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

let scene: TelegramScene;
beforeAll(async () => {
  scene = await startTelegramScene();
  write('tea', 'Warm the pot first.');
  write('ledger', 'The combination is 4711.', 'audience: owner\n');
  write('ritual', 'Hum softly.', 'disable-model-invocation: true\n');
  write('help', 'Not this one.');
});
afterAll(() => scene.close());

/** Adds or changes a skill in the workspace. */
function write(name: string, body: string, more = ''): void {
  const folder = join(scene.folder.path, 'workspace', 'skills', name);
  mkdirSync(folder, { recursive: true });
  const front = `name: ${name}\ndescription: When ${name} is wanted.\n${more}`;
  writeFileSync(join(folder, 'SKILL.md'), `---\n${front}---\n${body}\n`);
}

/** Writes to the bot and returns everything sent to the model for that message. */
async function ask(chat: number, text: string, from?: number): Promise<string> {
  const before = scene.answers(chat).length;
  scene.telegram.say({ chat, text, ...(from === undefined ? {} : { from }) });
  const answers = await scene.untilAnswers(chat, before + 1);
  expect(answers.at(-1)).toContain('You said: ');
  const { body } = scene.model.requests.at(-1) ?? {};
  return (body?.messages ?? []).map(getMessageText).join('\n');
}

/** Sends a command that is answered without the model. */
async function command(chat: number, text: string): Promise<string> {
  const before = scene.answers(chat).length;
  scene.telegram.say({ chat, text });
  return (await scene.untilAnswers(chat, before + 1)).at(-1) ?? '';
}

describe('skills in Telegram', () => {
  it('[S04] are listed for the model, owner-only skills just for the owner', async () => {
    const owner = await ask(ANN, 'hello');
    expect(owner).toContain('<available_skills>');
    for (const name of ['tea', 'ledger', 'plan-trip'])
      expect(owner).toContain(`<name>${name}</name>`);
    expect(owner).not.toContain('Warm the pot');
    const guest = await ask(BO, 'hello');
    expect(guest).toContain('<name>tea</name>');
    expect(guest).not.toContain('ledger');
  });

  it('[S08] are only in the prompt of the turn in which a command called them', async () => {
    expect(await ask(BO, '/tea for two')).toContain('Warm the pot first.');
    const { messages = [] } = scene.model.requests.at(-1)?.body ?? {};
    // The skill comes before the typed text in the same message, so the system prompt does not
    // change.
    expect(getMessageText(messages.at(-1))).toMatch(/Warm the pot first\.[\s\S]*\/tea for two$/);
    expect(getMessageText(messages[0])).not.toContain('Warm the pot');
    expect(await ask(BO, 'thanks')).not.toContain('Warm the pot');
  });

  it('[S08] can be hidden from the model and still be a command', async () => {
    expect(await ask(BO, 'what can you do?')).not.toContain('<name>ritual</name>');
    expect(await ask(BO, '/ritual')).toContain('Hum softly.');
  });

  it('[S08] [W03] are treated as ordinary text for anyone else if they are owner-only', async () => {
    const guest = await ask(BO, '/ledger');
    expect(guest).not.toContain('4711');
    expect(guest).not.toContain('ledger</name>');
    expect(await ask(ANN, '/ledger')).toContain('4711');
    const group = await ask(GROUP, '/ledger@parley_test_bot', ANN);
    expect(group).not.toContain('4711');
  });

  it("[F06] [F09] respond in a group to commands with the bot's name, and without the name once they are in the menu", async () => {
    expect(await ask(GROUP, '/tea@parley_test_bot', 77)).toContain('Warm the pot first.');
    // This skill is bundled, so it existed when the menu was built.
    expect(await ask(GROUP, '/plan_trip to Rome', 77)).toContain('# Plan a trip');
  });

  it('[F09] are in the menu and in /help for readers who may see them', async () => {
    const menus = scene.telegram.calls('setMyCommands').map(({ params }) => JSON.stringify(params));
    expect(menus.at(-1)).toContain('plan_trip');
    expect(menus.join()).not.toContain('ledger');
    expect(await command(ANN, '/help')).toMatch(/\/ledger – [\s\S]*\/tea – When tea is wanted/);
    const guest = await command(BO, '/help');
    expect(guest).toContain('/tea');
    expect(guest).not.toContain('ledger');
    expect(guest).toContain('Just write to me');
  });

  it('[S07] [S09] change for a chat with its next session, without a restart', async () => {
    write('tea', 'Warm the cups first.');
    write('coffee', 'Grind it.');
    const same = await ask(BO, 'still here?');
    expect(same).toContain('<name>tea</name>');
    expect(same).not.toContain('coffee');
    // Skills read on demand are always current.
    expect(await ask(BO, '/tea')).toContain('Warm the cups first.');
    await command(BO, '/new');
    expect(await ask(BO, 'and now?')).toContain('<name>coffee</name>');
  });

  it('[S06] are read with load_skill', async () => {
    const call = { name: 'load_skill', arguments: { name: 'coffee' } };
    scene.model.queue({ toolCalls: [call] });
    expect(await ask(BO, 'make me a coffee')).toContain('Grind it.');
    scene.model.queue({ toolCalls: [{ name: 'load_skill', arguments: { name: 'ledger' } }] });
    const guest = await ask(BO, 'open the books');
    expect(guest).toContain('There is no skill');
    expect(guest).not.toContain('4711');
  });
});

describe('the cost of skills', () => {
  it('[S10] is at most 2,000 tokens for 20 skills with 5,000 tokens each, preceded by the rules', async () => {
    const names = Array.from({ length: 20 }, (_, n) => `skill-number-${n}`);
    const data = makeDataFolder({ skills: { allow: names } });
    try {
      for (const name of names) {
        const folder = join(data.path, 'skills', name);
        mkdirSync(folder, { recursive: true });
        const front = `name: ${name}\ndescription: ${'When somebody asks for it. '.repeat(30)}`;
        writeFileSync(join(folder, 'SKILL.md'), `---\n${front}\n---\n${'word '.repeat(4_000)}`);
      }
      const { out } = await runCommand([
        '--data',
        data.path,
        'prompt',
        '--channel',
        'web',
        '--json',
      ]);
      const { parts } = Parts.parse(JSON.parse(out));
      const skills = parts.find(({ layer }) => layer === 'skills');
      for (const name of names) expect(skills?.text).toContain(`<name>${name}</name>`);
      expect(skills?.tokens).toBeLessThanOrEqual(2_000);
    } finally {
      data.remove();
    }
  });
});

const Parts = z.object({
  parts: z.array(z.object({ layer: z.string(), tokens: z.number(), text: z.string() })),
});

describe('parley skills', () => {
  it('[S09] lists skills with source, state and reason while a gateway is running', async () => {
    write('strange', 'x', 'requires: {bins: [no-such-program]}\n');
    const { code, out } = await runCommand(['--data', scene.folder.path, 'skills']);
    expect(code).toBe(0);
    expect(out).toMatch(/plan-trip 🧳 +bundled +ready +\/plan_trip +\d+/);
    expect(out).toMatch(/strange +workspace +not-eligible .*"no-such-program"/);
    expect(out).toMatch(/ledger +workspace +ready +\/ledger .*only for the owner/);
    expect(out).toMatch(/help +workspace +ready +- .*one of Parley’s own/);
  });

  it('[S01] [S09] exits with 1 when a skill is refused, and shows a skill in full', async () => {
    const data = ['--data', scene.folder.path];
    const shown = await runCommand([...data, 'skills', 'show', 'tea']);
    expect([shown.code, shown.out]).toEqual([0, expect.stringContaining('Warm the cups first.')]);
    expect((await runCommand([...data, 'skills', 'show', 'nothing'])).code).toBe(1);
    write('broken', 'x', 'always: perhaps\n');
    const { code, out } = await runParley([...data, 'skills']);
    expect(code).toBe(1);
    expect(out).toMatch(/broken +workspace +refused .*always/);
  });
});
