import { expect } from 'vitest';
import type { ChannelBehavior } from './behaviour.ts';
import type { ChatLocation } from './peer.ts';
import type { ChannelScene } from './scene.ts';

/** Expects no answer: a pending question is still unanswered after an exchange in another chat. */
async function expectSilence(scene: ChannelScene, place: ChatLocation): Promise<void> {
  await scene.exchange(scene.peer.direct(), 'meanwhile');
  expect(scene.answers(place)).toEqual([]);
}

/** Rows about who is answered, where, and when. */
export const CONVERSATIONS: readonly ChannelBehavior[] = [
  {
    title: '[F03] a direct message is answered in that chat',
    run: async (scene) => {
      const place = scene.peer.direct();
      const [answer] = await scene.exchange(place, 'hello there');
      expect(answer?.text).toContain('You said:');
    },
  },
  {
    title: '[F11] two people writing at the same time each get their own answer',
    isSameEverywhere: true,
    run: async (scene) => {
      const [one, two] = [scene.peer.direct(), scene.peer.direct()];
      await Promise.all([scene.exchange(one, 'from one'), scene.exchange(two, 'from two')]);
      expect(scene.answers(one)).toHaveLength(1);
      expect(scene.answers(two)).toHaveLength(1);
    },
  },
  {
    title: '[D02] questions of one chat are answered in order',
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.direct();
      for (const text of ['first', 'second', 'third']) await scene.exchange(place, text);
      const order = scene.answers(place).map(({ text }) => /first|second|third/.exec(text)?.[0]);
      expect(order).toEqual(['first', 'second', 'third']);
    },
  },
  {
    title: '[D02] a slow chat delays nobody else',
    isSameEverywhere: true,
    run: async (scene) => {
      const [slow, quick] = [scene.peer.direct(), scene.peer.direct()];
      const held = scene.hold('take your time');
      await scene.ask(slow, 'take your time');
      await held.asked;
      await scene.exchange(quick, 'quickly');
      expect(scene.answers(slow)).toEqual([]);
      held.release();
      await scene.until(slow, 'take your time');
    },
  },
  {
    title: '[D03] messages that arrive during a turn form the next one together',
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.direct();
      const held = scene.hold('begin with this');
      await scene.ask(place, 'begin with this');
      await held.asked;
      await scene.say(place, 'then more');
      await scene.say(place, 'and the rest');
      await scene.exchange(scene.peer.direct(), 'elsewhere');
      held.release();
      await scene.until(place, 'and the rest');
      expect(scene.asked('and the rest').at(-1)).toContain('then more');
    },
  },
  {
    title: '[F06] a group gets an answer when the bot is mentioned',
    needs: ['groups'],
    run: async (scene) => {
      const place = scene.peer.group();
      await scene.exchange(place, 'you there');
      expect(scene.answers(place)).toHaveLength(1);
    },
  },
  {
    title: '[F06] a group gets no answer when the bot is not addressed',
    needs: ['groups'],
    run: async (scene) => {
      const place = scene.peer.group();
      await scene.say(place, 'just talking');
      await expectSilence(scene, place);
    },
  },
  {
    title: '[F06] a reply to the bot addresses it',
    needs: ['quotes'],
    run: async (scene) => {
      const place = scene.peer.group();
      const [answer] = await scene.exchange(place, 'a question');
      await scene.say(place, 'and why', { replyTo: answer?.id ?? '' });
      await scene.until(place, 'and why');
    },
  },
  {
    title: '[F06] a reply to another person does not',
    needs: ['quotes'],
    run: async (scene) => {
      const place = scene.peer.group();
      const first = await scene.say(place, 'what a day');
      await scene.say(place, 'indeed', { replyTo: first, from: scene.peer.other(place) });
      await expectSilence(scene, place);
    },
  },
  {
    title: '[F11] an answer in a group quotes the question',
    needs: ['quotes'],
    run: async (scene) => {
      const place = scene.peer.group();
      const question = await scene.ask(place, 'which one');
      const [answer] = await scene.until(place, 'which one');
      expect(answer?.replyTo).toBe(question);
    },
  },
  {
    title: '[F11] an answer in a direct chat quotes nothing',
    run: async (scene) => {
      const [answer] = await scene.exchange(scene.peer.direct(), 'plain talk');
      expect(answer?.replyTo).toBeUndefined();
    },
  },
  {
    title: '[F06] unaddressed talk is context for the next addressed turn',
    needs: ['groups'],
    run: async (scene) => {
      const place = scene.peer.group();
      await scene.say(place, 'the code word is heliotrope');
      await scene.exchange(place, 'what is the word');
      expect(scene.asked('what is the word').at(-1)).toContain('heliotrope');
    },
  },
  {
    title: '[F06] unaddressed talk is used as context only once',
    needs: ['groups'],
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.group();
      await scene.say(place, 'the code word is amaranth');
      await scene.exchange(place, 'first ask');
      await scene.exchange(place, 'second ask');
      expect(scene.asked('second ask').at(-1)).not.toContain('amaranth');
    },
  },
  {
    title: '[W02] talk in one group is unknown in another',
    needs: ['groups'],
    isSameEverywhere: true,
    run: async (scene) => {
      const [one, two] = [scene.peer.group(), scene.peer.group()];
      await scene.say(one, 'our secret is cinnabar');
      await scene.exchange(two, 'what do you know');
      for (const { body } of scene.model.requests) {
        const all = JSON.stringify(body);
        if (all.includes('what do you know')) expect(all).not.toContain('cinnabar');
      }
    },
  },
  {
    title: '[F03] a thread is answered in the thread',
    needs: ['threads'],
    run: async (scene) => {
      const place = scene.peer.thread();
      await scene.exchange(place, 'in here');
      expect(scene.answers(place)).toHaveLength(1);
    },
  },
  {
    title: '[W02] two threads do not share context',
    needs: ['threads'],
    run: async (scene) => {
      const [one, two] = [scene.peer.thread(), scene.peer.thread()];
      await scene.exchange(one, 'thread secret vermilion');
      await scene.exchange(two, 'tell me more');
      for (const { body } of scene.model.requests) {
        const all = JSON.stringify(body);
        if (all.includes('tell me more')) expect(all).not.toContain('vermilion');
      }
    },
  },
  {
    title: '[F07] another bot is not answered',
    needs: ['bots'],
    run: async (scene) => {
      const place = scene.peer.group();
      await scene.ask(place, 'beep', { bot: true });
      await expectSilence(scene, place);
    },
  },
  {
    title: '[F08] a message delivered twice is answered once',
    needs: ['twice'],
    run: async (scene) => {
      const place = scene.peer.direct();
      scene.peer.tellTwice(place);
      await scene.ask(place, 'only once please');
      await scene.once(place, 'only once please');
    },
  },
  {
    title: '[F08] messages delivered out of order are each answered once',
    needs: ['out-of-order'],
    run: async (scene) => {
      const place = scene.peer.direct();
      scene.peer.tellSwapped();
      await scene.ask(place, 'said earlier');
      await scene.ask(place, 'said later');
      await scene.peer.waitFor(() => scene.answers(place).length > 0);
      await scene.exchange(place, 'anything else');
      const asked = scene.asked('said ').filter((text) => text.includes('said earlier'));
      expect(asked).toHaveLength(1);
      expect(scene.asked('said later')).toHaveLength(1);
    },
  },
  {
    title: '[F08] an album becomes one turn',
    needs: ['albums'],
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.ask(place, 'my pictures', { files: ['picture', 'picture'] });
      await scene.peer.waitFor(() => scene.answers(place).length > 0);
      // The messages of a chat are handled in order, so two turns would both have ended by now.
      await scene.exchange(place, 'what else');
      expect(scene.answers(place)).toHaveLength(2);
      expect(scene.asked('my pictures')).toHaveLength(1);
    },
  },
  {
    title: '[F10] the text of a document reaches the model',
    needs: ['documents'],
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.ask(place, 'read this', { files: ['document'] });
      await scene.peer.waitFor(() => scene.answers(place).length > 0);
      const requests = JSON.stringify(scene.model.requests.map(({ body }) => body));
      expect(requests).toContain('a.txt');
      expect(requests).toContain('inside');
    },
  },
  {
    title: '[F08] a message edited before its turn is answered in its new form',
    needs: ['edits'],
    run: async (scene) => {
      const place = scene.peer.direct();
      const held = scene.hold('hold on');
      await scene.ask(place, 'hold on');
      await held.asked;
      const id = await scene.ask(place, 'wrong words');
      await scene.peer.edit(place, id, 'right words');
      await scene.exchange(scene.peer.direct(), 'something else');
      held.release();
      await scene.until(place, 'right words');
      expect(scene.asked('wrong words')).toEqual([]);
    },
  },
  {
    title: '[F08] a message edited after its answer is not answered again',
    needs: ['edits'],
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.direct();
      const id = await scene.ask(place, 'typo here');
      await scene.until(place, 'typo here');
      await scene.peer.edit(place, id, 'no typo here');
      await scene.exchange(scene.peer.direct(), 'wait for it');
      expect(scene.answers(place)).toHaveLength(1);
    },
  },
  {
    title: '[F08] a message deleted before its turn is not answered',
    needs: ['deletes'],
    run: async (scene) => {
      const place = scene.peer.direct();
      const held = scene.hold('stay busy');
      await scene.ask(place, 'stay busy');
      await held.asked;
      const id = await scene.ask(place, 'never mind');
      await scene.peer.erase(place, id);
      await scene.exchange(scene.peer.direct(), 'something other');
      held.release();
      await scene.until(place, 'stay busy');
      await scene.exchange(place, 'next question');
      expect(scene.asked('never mind')).toEqual([]);
    },
  },
];
