import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { closeTestResources, startSlackTestDouble } from './testing/slack-client.ts';
import { runTypedCommand } from './typed-commands.ts';

afterEach(closeTestResources);

describe('typed commands of the Slack double', () => {
  it('writes in the direct chat, in a channel and in a thread, and edits and deletes a message', async () => {
    const { double, web, ann, direct, channel } = await startSlackTestDouble();
    const places = { you: ann, direct, channel };
    const type = (line: string) => runTypedCommand(double, places, line);
    for (const line of ['helo', '!edit hello', '  ', '!channel all', '!mention you']) type(line);
    const root = double.conversation(channel).at(-1)?.ts ?? '';
    await web.chat.postMessage({ channel, thread_ts: root, text: 'yes?' });
    type('!thread in there');
    type('!react 👍');
    expect(double.conversation(direct)).toMatchObject([{ text: 'hello', edits: 1 }]);
    expect(double.conversation(channel)).toMatchObject([
      { text: 'all' },
      { text: '@Parley you' },
      { text: 'yes?', reactions: [['👍', ann]] },
      { text: 'in there', threadTs: root },
    ]);
    type('!delete');
    expect(double.conversation(direct)).toEqual([]);
  });

  it('sends a file, runs a command, presses a button and removes the bot', async () => {
    const { double, web, ann, direct, channel } = await startSlackTestDouble();
    const places = { you: ann, direct, channel };
    const folder = await mkdtemp(join(tmpdir(), 'parley-typed-'));
    await writeFile(join(folder, 'a.txt'), 'x');
    runTypedCommand(double, places, `!file ${join(folder, 'a.txt')} what is it?`);
    await rm(folder, { recursive: true });
    expect(double.conversation(direct)).toMatchObject([
      { text: 'what is it?', files: [{ name: 'a.txt', type: 'text/plain' }] },
    ]);
    const button = {
      type: 'button' as const,
      action_id: 'yes',
      text: { type: 'plain_text' as const, text: 'Yes' },
    };
    await web.chat.postMessage({
      channel: direct,
      text: 'Sure?',
      blocks: [{ type: 'actions', elements: [button] }],
    });
    runTypedCommand(double, places, '!press Yes');
    runTypedCommand(double, places, '/ask now');
    expect(double.deliveries().map(({ what }) => what)).toEqual(
      expect.arrayContaining(['block_actions', '/ask']),
    );
    runTypedCommand(double, places, '!kick');
    expect(double.deliveries('channel_left')).toHaveLength(1);
  });

  it.each([
    ['!dance', 'Unknown command !dance.'],
    ['!press No', 'The bot has no matching message.'],
    ['!edit x', 'You have not sent a message yet.'],
    ['!file /nowhere/a.jpg', '/nowhere/a.jpg'],
    ['!thread x', 'The bot has no matching message.'],
  ])('explains why the typed line %s fails', async (line, reason) => {
    const { double, ann, direct, channel } = await startSlackTestDouble();
    expect(() => runTypedCommand(double, { you: ann, direct, channel }, line)).toThrow(reason);
  });
});
