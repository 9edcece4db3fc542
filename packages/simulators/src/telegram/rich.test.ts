import { afterEach, describe, expect, it } from 'vitest';
import {
  closeTestDoubles,
  getRefusalData,
  startTelegramTestDouble,
} from './testing/telegraf-client.ts';

const ANN = 501;
afterEach(closeTestDoubles);

async function sending(rich_message: object) {
  const { double, telegram } = await startTelegramTestDouble();
  double.say({ chat: ANN, text: 'hi' });
  const payload = { chat_id: ANN, rich_message };
  return { double, call: telegram.callApi('sendRichMessage' as never, payload as never) };
}

const table = (rows: number, columns: number) =>
  `<table>${`<tr>${'<td>1</td>'.repeat(columns)}</tr>`.repeat(rows)}</table>`;

describe('rich messages of the Telegram double', () => {
  it.each<[string, string, string]>([
    ['paragraphs', '<p>a <b>b</b></p>c<p>d</p>', 'a b\nc\nd'],
    ['a list', '<ol start="3"><li value="3">a</li></ol><ul><li>b</li></ul>', '3. a\n• b'],
    ['a fold', '<details open><summary>s</summary><p>t</p></details>', 's\nt'],
    ['a formula', '<p>so <tg-math>x &lt; 1</tg-math></p>', 'so x < 1'],
    ['499 rows in one table', table(499, 1), Array(499).fill('1').join('\n')],
    ['20 columns', table(1, 20), Array(20).fill('1').join(' | ')],
    ['16 levels', `${'<blockquote>'.repeat(15)}<p>a</p>${'</blockquote>'.repeat(15)}`, 'a'],
    ['32,768 characters', `<p>${'a'.repeat(32_768)}</p>`, 'a'.repeat(32_768)],
  ])('[F18] shows a rich message with %s', async (_name, html, text) => {
    const { double, call } = await sending({ html });
    await call;
    expect(double.conversation(ANN).at(-1)?.text).toBe(text);
  });

  it.each<[string, object]>([
    ['501 blocks', { html: table(500, 1) }],
    ['21 columns', { html: table(1, 21) }],
    ['17 levels', { html: `${'<blockquote>'.repeat(17)}a${'</blockquote>'.repeat(17)}` }],
    ['32,769 characters', { html: `<p>${'a'.repeat(32_769)}</p>` }],
    ['no visible content', { html: '<p> </p>' }],
    ['two formats at once', { html: '<p>a</p>', markdown: 'a' }],
    ['no format', { is_rtl: true }],
    ['an unknown field', { html: '<p>a</p>', silent: true }],
    ['an unknown tag', { html: '<script>a</script>' }],
    ['an unknown attribute', { html: '<p class="x">a</p>' }],
    ['an unclosed tag', { html: '<p>a' }],
    ['an unmatched end tag', { html: 'a</p>' }],
    ['a block in a cell', { html: '<table><tr><td><p>a</p></td></tr></table>' }],
    ['an item outside a list', { html: '<li>a</li>' }],
    ['formatted code', { html: '<code>a<b>b</b></code>' }],
  ])('[F18] refuses a rich message with %s', async (_name, rich) => {
    const { double, call } = await sending(rich);
    expect(await getRefusalData(call)).toMatchObject({ code: 400 });
    expect(double.conversation(ANN)).toHaveLength(1);
  });
});
