import { MessageFlags, type RESTPostAPIChannelMessageJSONBody } from 'discord.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startStage, stopStages, type TestStage } from './testing/discord-client.ts';

afterEach(stopStages);

let scene: TestStage;
beforeEach(async () => {
  scene = await startStage();
});

const V2 = MessageFlags.IsComponentsV2;
const text = (content: string) => ({ type: 10, content });
const button = (n: number, more: object = {}) => ({
  type: 2,
  style: 2,
  label: `b${n}`,
  custom_id: `b${n}`,
  ...more,
});
const row = (...components: object[]) => ({ type: 1, components });
const option = (n: number, more: object = {}) => ({ label: `o${n}`, value: `o${n}`, ...more });
const many = <T>(count: number, make: (n: number) => T) =>
  Array.from({ length: count }, (_, n) => make(n));
const select = (options: object[], more: object = {}) => ({
  type: 3,
  custom_id: 'menu',
  options,
  ...more,
});

const send = (body: object) =>
  scene.client.rest.post(`/channels/${scene.channel.id}/messages`, {
    body: body as RESTPostAPIChannelMessageJSONBody,
  }) as Promise<{ id: string }>;
const edit = (id: string, body: object) =>
  scene.client.rest.patch(`/channels/${scene.channel.id}/messages/${id}`, { body });

describe('[U04] components of the Discord double', () => {
  it.each<[string, object]>([
    ['26 options', { content: 'a', components: [row(select(many(26, option)))] }],
    ['no option', { content: 'a', components: [row(select([]))] }],
    ['two options with the same value', { components: [row(select([option(1), option(1)]))] }],
    ['a long label', { components: [row(select([option(1, { label: 'x'.repeat(101) })]))] }],
    ['a long value', { components: [row(select([option(1, { value: 'x'.repeat(101) })]))] }],
    [
      'a long description',
      { components: [row(select([option(1, { description: 'x'.repeat(101) })]))] },
    ],
    ['more choices than options', { components: [row(select([option(1)], { max_values: 2 }))] }],
    ['a menu beside a button', { components: [row(select([option(1)]), button(1))] }],
    ['six buttons in one row', { components: [row(...many(6, button))] }],
    ['six rows', { components: many(6, (n) => row(button(n))) }],
    ['an empty row', { components: [row()] }],
    ['a button without a style', { components: [row(button(1, { style: 9 }))] }],
    [
      'a button label that is too long',
      { components: [row(button(1, { label: 'x'.repeat(81) }))] },
    ],
    ['a text display without the flag', { components: [text('a')] }],
    ['a button outside a row', { flags: V2, components: [button(1)] }],
    [
      'a container inside a container',
      {
        flags: V2,
        components: [{ type: 17, components: [{ type: 17, components: [text('a')] }] }],
      },
    ],
    ['an empty text display', { flags: V2, components: [text('')] }],
    [
      '4,001 characters in total',
      { flags: V2, components: [text('x'.repeat(2_000)), text('x'.repeat(2_001))] },
    ],
    ['41 components', { flags: V2, components: many(41, (n) => text(`t${n}`)) }],
    ['content next to components', { flags: V2, content: 'a', components: [text('a')] }],
    ['embeds next to components', { flags: V2, embeds: [{ title: 'a' }], components: [text('a')] }],
    [
      'a poll next to components',
      { flags: V2, poll: { question: { text: 'a' } }, components: [text('a')] },
    ],
  ])('refuses %s', async (_what, body) => {
    await expect(
      send({ content: 'flags' in body ? undefined : 'a', ...body }),
    ).rejects.toMatchObject({
      code: 50035,
    });
  });

  it('accepts 25 options, 40 components and 4,000 characters, and shows their text', async () => {
    await send({ content: 'menu', components: [row(select(many(25, option)))] });
    await send({ flags: V2, components: many(40, (n) => text(`t${n}`)) });
    await send({
      flags: V2,
      components: [{ type: 17, components: [text('x'.repeat(4_000)), row(button(1))] }],
    });
    const shown = scene.double.conversation(scene.channel.id);
    expect(shown.map(({ visible }) => visible.length)).toEqual([4, 149, 4_000]);
  });

  it('keeps the components flag on edits and refuses to add content to a message with the flag', async () => {
    const { id } = await send({ flags: V2, components: [text('a')] });
    await expect(edit(id, { content: 'b' })).rejects.toMatchObject({ code: 50035 });
    await expect(edit(id, { components: [] })).rejects.toMatchObject({ code: 50006 });
    await edit(id, { flags: 0, components: [text('b')] });
    const [shown] = scene.double.conversation(scene.channel.id);
    expect(shown).toMatchObject({ visible: 'b', content: '' });
    expect(Number(shown?.message.flags) & V2).toBe(V2);
    const { id: plain } = await send({ content: 'a' });
    await expect(edit(plain, { flags: V2, components: [text('b')] })).rejects.toMatchObject({
      code: 50035,
    });
    await edit(plain, { flags: V2, content: null, components: [text('b')] });
  });

  it('lets people choose only existing menu options, and only as many as the menu allows', async () => {
    const { double, channel } = scene;
    const menu = select(many(4, option), { min_values: 1, max_values: 2 });
    const { id } = await send({ content: 'a', components: [row(menu)] });
    const choose = (...values: string[]) =>
      double.press({ channel: channel.id, message: id, customId: 'menu', values });
    expect(() => choose('o9')).toThrow('no option o9');
    expect(() => choose()).toThrow('takes 1 to 2');
    expect(() => choose('o1', 'o2', 'o3')).toThrow('takes 1 to 2');
    expect(choose('o1', 'o3')).toMatch(/^\d+$/);
  });
});
