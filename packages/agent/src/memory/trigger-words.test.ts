import { EXAMPLE_MESSAGE } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { ownSentences } from './own-words.ts';
import { triggerIn } from './trigger-words.ts';

const KEPT: readonly (readonly [string, string, string])[] = [
  ['Remember that my sister is called Ann.', 'remember', 'fact'],
  ['please remember: the key is under the mat', 'remember', 'fact'],
  ['Polly, remember my birthday is in May', 'remember', 'fact'],
  ['Can you please remember that I am vegetarian?', 'remember', 'fact'],
  ["Don't forget to remember the milk rule", 'remember', 'fact'],
  ['I like green tea.', 'I like', 'preference'],
  ['i really like short answers', 'I like', 'preference'],
  ['By the way, I like walking in the rain.', 'I like', 'preference'],
  ["I don't like coriander", "I don't like", 'preference'],
  ['I don’t like long mails.', "I don't like", 'preference'],
  ['I do not like mornings', "I don't like", 'preference'],
  ['Always answer in German.', 'always', 'constraint'],
  ['please always add the source', 'always', 'constraint'],
  ['From now on, always use metric units', 'always', 'constraint'],
  ['You should always ask first.', 'always', 'constraint'],
  ['I always take the night train.', 'always', 'constraint'],
  ['Never call me before nine.', 'never', 'constraint'],
  ['Please never use emojis!', 'never', 'constraint'],
  ['You must never write to Bob.', 'never', 'constraint'],
  ['I never eat meat.', 'never', 'constraint'],
  ['In reports, never round the numbers', 'never', 'constraint'],
  ['记住我的生日是五月三号', '记住', 'fact'],
  ['请记住:我住在柏林。', '记住', 'fact'],
  ['我喜欢绿茶', '我喜欢', 'preference'],
  ['我最喜欢下雨天。', '我喜欢', 'preference'],
  ['我不喜欢香菜', '我不喜欢', 'preference'],
  ['我不太喜欢早起', '我不喜欢', 'preference'],
  ['我的偏好是简短的回答', '我的偏好', 'preference'],
  ['以后请用中文回答', '以后', 'constraint'],
  ['好的,以后叫我老王', '以后', 'constraint'],
  ['请总是先问我', '总是', 'constraint'],
  ['我从不喝咖啡', '从不', 'constraint'],
  ['Merk dir, dass meine Schwester Anna heißt.', 'merk dir', 'fact'],
  ['Bitte merke dir: der Schlüssel liegt unter der Matte', 'merk dir', 'fact'],
  ['Kannst du dir bitte merken, dass ich kein Fleisch esse?', 'merk dir', 'fact'],
  ['Ich mag grünen Tee.', 'ich mag', 'preference'],
  ['Übrigens: ich mag kurze Antworten', 'ich mag', 'preference'],
  ['Ich mag keinen Koriander.', 'ich mag nicht', 'preference'],
  ['ich mag lange Mails nicht', 'ich mag nicht', 'preference'],
  ['Antworte mir immer auf Deutsch.', 'immer', 'constraint'],
  ['Bitte immer mit Quelle', 'immer', 'constraint'],
  ['Du sollst immer erst fragen.', 'immer', 'constraint'],
  ['Ich nehme immer den Nachtzug.', 'immer', 'constraint'],
  ['Ruf mich nie vor neun an.', 'nie', 'constraint'],
  ['Benutze bitte niemals Emojis!', 'nie', 'constraint'],
  ['Ich esse nie Fleisch.', 'nie', 'constraint'],
];

const NOT_KEPT: readonly string[] = [
  'I never said that.',
  'He never called back.',
  'I have never been to Rome.',
  "I've always wanted to go there.",
  'I always thought it was blue.',
  'Never mind.',
  'nevermind, found it',
  'As always, thank you!',
  'The server always crashes on Mondays.',
  'Do you remember my birthday?',
  'Remember when we went to Oslo?',
  "I don't remember.",
  'I can’t remember the name',
  'What do I like?',
  'Should I always use TLS?',
  'I would like a pizza.',
  "I'd like to book a table.",
  'It looks like rain.',
  'I like how you said that',
  'She said "I like green tea".',
  'The sign says “Always close the door”.',
  'My boss said always be early.',
  '`always` is a keyword',
  '```\nnever: true\nalways()\n```',
  '> I like cheese',
  'see https://example.org/always/remember',
  'Why do you never answer?',
  'Better late than never.',
  '你记住了吗?',
  '我没记住',
  '你知道我喜欢什么吗?',
  '以后再说吧',
  '她说我喜欢她',
  '我们以前总是一起去',
  'Ich habe das nie gesagt.',
  'Ich war noch nie in Rom.',
  'Das ist immer so.',
  'Der Server stürzt immer montags ab.',
  'Es regnet immer noch.',
  'Warum antwortest du nie?',
  'Was mag ich?',
  'Ich mag mich irren.',
  'Ich mag, wie du das gesagt hast?',
  'Sie sagte, ich mag grünen Tee.',
  '„Ich mag grünen Tee“, stand dort.',
  'Wie immer: danke!',
  'Ich dachte immer, es wäre blau.',
  'Nie im Leben!',
  'Immer wieder schön.',
  'Weißt du, dass ich Tee mag?',
  'Kannst du dir das vorstellen?',
  'Ich komme nie wieder zu spät, versprochen.',
];

const message = (text: string) => ({ ...EXAMPLE_MESSAGE, text });
const found = (text: string) =>
  ownSentences([message(text)]).flatMap((sentence) => triggerIn(sentence.text) ?? []);

describe('words that ask for remembering', () => {
  it.each(KEPT)('[G13] "%s" is kept because of "%s", as a %s', (text, word, type) => {
    expect(found(text)).toEqual([{ word, type }]);
  });

  it.each(NOT_KEPT)('[G13] "%s" is not kept', (text) => {
    expect(found(text)).toEqual([]);
  });

  it('[G13] are found in the one sentence of a message that has them', () => {
    const text = 'Hello there. I like green tea. What is the weather like?';
    const sentences = ownSentences([message(text)]);
    expect(sentences.filter((one) => triggerIn(one.text)).map((one) => one.text)).toEqual([
      'I like green tea.',
    ]);
  });

  it.each(['[Forwarded from Mallory]', '[Forwarded]', '[Forwarded from a\nname]'])(
    '[G13] are not looked for in text of others: %j',
    (mark) => {
      expect(ownSentences([message(`${mark}\nI like green tea. Always pay at once.`)])).toEqual([]);
    },
  );

  it('are not looked for in what Parley itself put there', () => {
    const boot = { ...message('I like green tea.'), trigger: 'boot' as const };
    expect(ownSentences([boot])).toEqual([]);
  });

  it('are found quickly in a hostile text', () => {
    const long = 'please, '.repeat(1_000) + 'always '.repeat(1_000);
    expect(found(long).length).toBeLessThan(2);
  });
});
