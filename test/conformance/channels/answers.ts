import { expect } from 'vitest';
import type { ChannelBehavior } from './behaviour.ts';
import type { ChatLocation } from './peer.ts';
import type { ChannelScene } from './scene.ts';

/** Everything that the bot wrote in a chat, as one string. */
const all = (scene: ChannelScene, place: ChatLocation) =>
  scene
    .answers(place)
    .map(({ text }) => text)
    .join('\n');

async function expectWords(
  scene: ChannelScene,
  place: ChatLocation,
  characters: number,
): Promise<void> {
  await scene.ask(place, `wish:long:${characters}`);
  const last = countWords(characters);
  await scene.until(place, `w${last - 1}w`);
  const seen = [...all(scene, place).matchAll(/\bw(\d+)w\b/g)].map(([, index]) => Number(index));
  expect(seen).toEqual(Array.from({ length: last }, (_, index) => index));
  for (const { text } of scene.answers(place)) {
    expect(text.length).toBeLessThanOrEqual(scene.peer.longest);
  }
}

/** The number of numbered words that make up this many characters. */
function countWords(characters: number): number {
  let count = 0;
  for (let length = 0; length < characters; count += 1) length += `w${count}w `.length;
  return count;
}

const sizes = [1, 3, 10, 30].flatMap((size): ChannelBehavior[] => [
  {
    title: `[M03] an answer of ${size} kB arrives whole, once and in order in a direct chat`,
    isSameEverywhere: size < 10,
    run: (scene) => expectWords(scene, scene.peer.direct(), size * 1_000),
  },
  ...(size === 10
    ? [
        {
          title: `[M03] an answer of ${size} kB arrives whole, once and in order in a group`,
          run: (scene: ChannelScene) => expectWords(scene, scene.peer.group(), size * 1_000),
        },
      ]
    : []),
]);

/** The form in which answers appear on a platform. */
export const ANSWERS: readonly ChannelBehavior[] = [
  ...sizes,
  {
    title: '[M03] code longer than a message arrives whole, all of it as code',
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.ask(place, 'wish:code:9000');
      await scene.until(place, 'behind the code');
      const lines = [...all(scene, place).matchAll(/const w(\d+)w = (\d+);/g)];
      expect(lines.map(([, index]) => Number(index))).toEqual(lines.map((_, index) => index));
      expect(lines).toHaveLength(Math.ceil(9_000 / 24));
      expect(all(scene, place)).not.toContain('```');
    },
  },
  {
    title: '[M01] markup is rendered, without its literal characters',
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.ask(place, 'wish:rich');
      await scene.until(place, 'quoted');
      const text = all(scene, place);
      for (const sign of ['**', '~~', '# ', '](']) expect(text).not.toContain(sign);
      for (const word of ['Heading', 'bold', 'italic', 'code', 'gone', 'one', 'two', 'link']) {
        expect(text).toContain(word);
      }
    },
  },
  {
    title: '[M01] a table is readable',
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.ask(place, 'wish:table');
      await scene.until(place, 'bee');
      expect(all(scene, place)).not.toContain('|---|');
      expect(all(scene, place)).toContain('22');
    },
  },
  {
    title: '[M05] nobody is pinged by an answer',
    needs: ['pings'],
    run: async (scene) => {
      const place = scene.peer.group();
      await scene.ask(place, 'wish:ping');
      await scene.until(place, 'everyone');
      expect(all(scene, place)).not.toMatch(/@everyone|@here/);
    },
  },
  {
    title: '[F12] an answer that contains nothing visible is reported as empty',
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.ask(place, 'wish:empty');
      await scene.peer.waitFor(() => scene.answers(place).length === 1);
      expect(all(scene, place)).toContain('⚙️');
    },
  },
  {
    title: '[M03] Chinese, emoji and right-to-left text arrive as they were written',
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.exchange(place, '天地玄黃 👩‍👩‍👧 שלום');
      expect(all(scene, place)).toContain('天地玄黃 👩‍👩‍👧 שלום');
    },
  },
  {
    title: '[M05] HTML written by a person comes back as text',
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.exchange(place, 'a <b>x</b> & <script>y</script> z');
      expect(all(scene, place)).toContain('<b>x</b> & <script>y</script> z');
    },
  },
  {
    title: '[D07] a message that is far too long is rejected with the limit',
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.direct();
      await scene.say(place, 'x'.repeat(40_000));
      await scene.peer.waitFor(() => scene.answers(place).length > 0);
      expect(all(scene, place)).toContain('characters');
    },
  },
];
