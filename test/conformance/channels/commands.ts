import { expect } from 'vitest';
import type { ChannelBehavior } from './behaviour.ts';
import type { ChatLocation } from './peer.ts';
import type { ChannelScene } from './scene.ts';

/** Text that the answer to each command must contain. */
const PLAIN = [
  ['help', /\/help[\s\S]*\/stop/],
  ['status', /is here/],
  ['new', /fresh start/],
  ['stop', /nothing|stopped/i],
  ['mode', /agent[\s\S]*ask[\s\S]*plan/],
  ['memory', /nothing|know/i],
  ['forget', /forget/i],
] as const;
const OWNERS = ['model', 'heartbeat', 'approve', 'deny', 'soul', 'why'] as const;

async function sendCommand(scene: ChannelScene, command: string): Promise<string> {
  const place = scene.peer.direct();
  const asked = scene.model.total;
  await scene.peer.say(place, { text: command });
  await scene.peer.waitFor(() => scene.answers(place).length > 0);
  expect(scene.model.total).toBe(asked);
  return scene
    .answers(place)
    .map(({ text }) => text)
    .join('\n');
}

/** Commands are answered immediately and never by the model. */
export const COMMANDS: readonly ChannelBehavior[] = [
  ...PLAIN.map(
    ([name, words]): ChannelBehavior => ({
      title: `[F09] /${name} is answered without the model`,
      // In a group, only administrators may use this command.
      ...(name === 'new' && { needs: ['direct-chats'] }),
      isSameEverywhere: name !== 'help',
      run: async (scene) => {
        expect(await sendCommand(scene, `/${name}`)).toMatch(words);
      },
    }),
  ),
  ...OWNERS.map(
    (name): ChannelBehavior => ({
      title: `[F09] /${name} is refused to anyone but the owner`,
      isSameEverywhere: name !== 'model',
      run: async (scene) => {
        expect(await sendCommand(scene, `/${name}`)).toContain(`/${name} is for my owner`);
      },
    }),
  ),
  {
    title: '[F09] /whoami tells people how Parley identifies them',
    run: async (scene) => {
      expect(await sendCommand(scene, '/whoami')).toContain(`${scene.peer.channel}:`);
    },
  },
  {
    title: '[F09] /new makes the model forget what was said',
    needs: ['direct-chats'],
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.exchange(place, 'the stone is malachite');
      await scene.peer.say(place, { text: '/new' });
      await scene.until(place, 'fresh start');
      await scene.exchange(place, 'what was it');
      const request = scene.model.requests.findLast(({ body }) =>
        JSON.stringify(body).includes('what was it'),
      );
      expect(JSON.stringify(request?.body)).not.toContain('malachite');
    },
  },
  {
    title: '[F09] the text after /new starts the new session',
    needs: ['direct-chats'],
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.exchange(place, 'the stone is malachite');
      await scene.peer.say(place, { text: '/New. which stone was it\nsay it twice' });
      await scene.until(place, 'fresh start');
      await scene.until(place, 'say it twice');
      const request = scene.model.requests.findLast(({ body }) =>
        JSON.stringify(body).includes('which stone was it'),
      );
      expect(JSON.stringify(request?.body)).not.toContain('malachite');
    },
  },
  {
    title: '[G23] /rewind takes back the last question with its answer',
    needs: ['direct-chats'],
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.exchange(place, 'the mineral is malachite');
      await scene.exchange(place, 'the mineral is azurite');
      await scene.peer.say(place, { text: '/rewind' });
      await scene.until(place, 'Taken back');
      await scene.exchange(place, 'which mineral is it');
      const { body } = scene.model.requests.at(-1) ?? {};
      expect(JSON.stringify(body)).toContain('the mineral is malachite');
      expect(JSON.stringify(body)).not.toContain('azurite');
    },
  },
  {
    title: '[F05] in a group only administrators change the conversation for everyone',
    needs: ['administrators'],
    run: async ({ peer, answers, exchange }) => {
      const [place, promoted] = [peer.group(), peer.group()];
      const answerIn = async (group: ChatLocation, text: string) => {
        const from = peer.other(group);
        if (group === promoted) peer.promote?.(group, from);
        await exchange(group, `before ${text}`, { from });
        const before = answers(group);
        // A reply to the bot addresses it on every platform.
        await peer.say(group, { text, from, replyTo: before.at(-1)?.id ?? '' });
        await peer.waitFor(() => answers(group).length > before.length);
        return answers(group).at(-1)?.text;
      };
      for (const text of ['/new', '/mode ask', '/compact']) {
        expect(await answerIn(place, text)).toMatch(/for administrators of this group/);
      }
      expect(await answerIn(promoted, '/new')).toContain('fresh start');
    },
  },
  {
    title: '[F09] /stop bypasses the queue and ends the running turn',
    run: async (scene) => {
      const place = scene.peer.direct();
      const held = scene.hold('an endless story');
      await scene.ask(place, 'an endless story');
      await held.asked;
      await scene.peer.say(place, { text: '/stop' });
      await scene.until(place, 'Stopped.');
      held.release();
      await scene.exchange(place, 'and now');
      expect(scene.answers(place).some(({ text }) => text.includes('endless'))).toBe(false);
    },
  },
  {
    title: '[F09] an unknown command is an ordinary question',
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.peer.say(place, { text: '/dance for me' });
      await scene.until(place, 'dance for me');
    },
  },
  {
    title: '[F09] [S08] a skill is invoked by its command, and its text reaches the model',
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.peer.say(place, { text: '/plan_trip to Ravenna' });
      await scene.until(place, 'to Ravenna');
      const request = scene.model.requests.findLast(({ body }) =>
        JSON.stringify(body).includes('to Ravenna'),
      );
      expect(JSON.stringify(request?.body)).toContain('# Plan a trip');
    },
  },
  {
    title: '[F05] an owner-only command is refused to others',
    isSameEverywhere: true,
    run: async (scene) => {
      expect(await sendCommand(scene, '/pair ABCDEFGH')).toMatch(/owner/i);
    },
  },
  {
    title: '[F09] [H02] /heartbeat shows the owner the schedule, and how to write a task',
    needs: ['direct-chats'],
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.ownerPlace;
      const [asked, before] = [scene.model.total, scene.answers(place).length];
      await scene.peer.say(place, { text: '/heartbeat' });
      await scene.peer.waitFor(() => scene.answers(place).length > before);
      const said = scene.answers(place).slice(before);
      expect(said.map(({ text }) => text).join('\n')).toMatch(/next run[\s\S]*## mail/);
      expect(scene.model.total).toBe(asked);
    },
  },
  {
    title: '[D08] /why tells the owner what happened to a message',
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.ownerPlace;
      await scene.exchange(place, 'for the record');
      const before = scene.answers(place).length;
      await scene.peer.say(place, { text: '/why' });
      await scene.peer.waitFor(() => scene.answers(place).length > before);
      expect(scene.answers(place).at(-1)?.text).toMatch(/owner|answered/i);
    },
  },
];
