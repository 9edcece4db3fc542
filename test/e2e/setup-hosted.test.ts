import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SlackDouble, startSlackDouble } from '@parley/simulators/slack';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { findFreePort } from '../services/free-port.ts';
import { startParleyInProcess } from './parley-here.ts';
import { type DataFolder, makeDataFolder, runCommand } from './parley-process.ts';
import { KEYS, openPseudoTerminal } from './pseudo-terminal.ts';

const script = inject('scriptPath');

describe('[F15] a Slack workspace', () => {
  let slack: SlackDouble;
  let folder: DataFolder;
  let ann: string;
  const file = () => join(folder.path, 'parley.yaml');
  const settings = async (more = '') => `http: { port: ${await findFreePort()} }
lanes: { collectPauseMs: 50 }
model: offline
channels:
  slack:
    use: '@chat-adapter/slack'
    options: { apiUrl: "${slack.apiUrl}"${more} }
`;
  beforeAll(async () => {
    slack = await startSlackDouble();
    ann = slack.addMember({ name: 'Ann' });
    folder = makeDataFolder({});
  });
  afterAll(async () => {
    await slack?.close();
    folder?.remove();
  });

  it.runIf(script)('[U02] is connected by "parley setup" and linked to its owner', async () => {
    writeFileSync(file(), await settings());
    const terminal = openPseudoTerminal(['--data', folder.path, 'setup']);
    onTestFinished(() => terminal.end());
    await terminal.sees('Which model should the agent use?');
    await terminal.sees('Keep it as it is');
    terminal.type(KEYS.up + KEYS.enter);
    await terminal.sees('Where will people write to the agent?');
    await terminal.sees('Another platform, with a Chat SDK adapter');
    terminal.type(KEYS.down.repeat(4) + KEYS.enter);
    await terminal.sees('docs/channel-slack.md');
    await terminal.sees('What is not durable');
    await terminal.sees('/channels/slack/default/');
    await terminal.sees('Bot token');
    terminal.type(slack.botToken + KEYS.enter);
    await terminal.sees('App-level token, or nothing');
    terminal.type(slack.appToken + KEYS.enter);
    await terminal.sees('Signing secret, or nothing');
    terminal.type(KEYS.enter);
    await terminal.sees(`It is @${slack.me.name}`);
    await terminal.sees('Write this into');
    terminal.type(KEYS.enter);
    await terminal.sees('Start Parley briefly');
    terminal.type(KEYS.enter);
    await terminal.sees('Write anything to your bot');
    await slack.waitFor(() => slack.connections() > 0);
    slack.say({ channel: slack.directChat(ann), from: ann, text: 'hello?' });
    await terminal.sees("that's me");
    terminal.type(KEYS.enter);
    await terminal.sees('You are the owner now');
    await terminal.sees('Start Parley in this terminal now?');
    terminal.type(`${KEYS.down}${KEYS.enter}`);
    await terminal.sees('Done. Start Parley with');
    expect(await terminal.ended).toBe(0);
    const written = readFileSync(file(), 'utf8');
    expect(written).toContain(`slack:${ann}`);
    for (const secret of [slack.botToken, slack.appToken]) {
      expect(written).not.toContain(secret);
      expect(terminal.text()).not.toContain(secret);
    }
    const { out } = await runCommand(['--data', folder.path, 'doctor']);
    expect(out).toMatch(new RegExp(`slack.*@${slack.me.name}`));
  });

  it('[U03] is shown by "parley status" with the URL that Slack calls', async () => {
    const { botToken, signingSecret } = slack;
    writeFileSync(
      file(),
      await settings(`, botToken: ${botToken}, signingSecret: ${signingSecret}`),
    );
    const gateway = await startParleyInProcess(folder.path);
    onTestFinished(async () => void (await gateway.end()));
    const status = async () => (await runCommand(['--data', folder.path, 'status'])).out;
    await expect.poll(status, { timeout: 20_000 }).toContain('slack/default: connected');
    expect(await status()).toMatch(/webhook +slack\/default: \/channels\/slack\/default\/ under/);
    expect(await status()).toContain('set http.publicUrl');
  });

  it('[D12] [F15] without an installed adapter fails alone, and the error shows the install command', async () => {
    writeFileSync(
      file(),
      `http: { port: ${await findFreePort()} }
model: offline
channels:
  mail: { use: '@resend/chat-sdk-adapter', options: { apiKey: none } }
`,
    );
    const line = 'npm install @resend/chat-sdk-adapter@latest';
    const checked = await runCommand(['--data', folder.path, 'config', 'check']);
    expect(checked).toMatchObject({ code: 0, out: expect.stringContaining(`"${line}"`) });
    expect(checked.out).toContain('is fine');
    const gateway = await startParleyInProcess(folder.path);
    onTestFinished(async () => void (await gateway.end()));
    const { out } = await runCommand(['--data', folder.path, 'status']);
    expect(out).toMatch(/mail\/default: not working: Resend needs the library/);
    expect(out).toContain(`Run "${line}"`);
    expect(out).toMatch(/web\/default: connected/);
  });
});
