import { detectLanguageName } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { findProfileLanguage } from './language.ts';

describe('the language of a chat', () => {
  it.each([
    [['hallo', 'kannst du mir bitte sagen, was heute ansteht?'], 'German'],
    [['what is on today?', 'ok thanks, and remind me of it'], 'English'],
    [['bonjour, tu peux regarder mes mails ?', 'merci, et pour demain'], 'French'],
    [['hola, ¿qué hay para hoy?', 'gracias'], 'Spanish'],
    [['ciao, che cosa c’è per domani?', 'grazie, non oggi'], 'Italian'],
    [['oi, você está aí?', 'não, obrigado'], 'Portuguese'],
    [['kun je het voor mij doen?', 'wat is er vandaag'], 'Dutch'],
    [['kan du påminna mig när det är dags', 'tack'], 'Swedish'],
    [['dzień dobry, czy jest coś na jutro?', 'nie, proszę nie'], 'Polish'],
    [['bugün ne var?', 'lütfen bana daha çok bilgi'], 'Turkish'],
    [['我明天要去上海'], 'Chinese'],
    [['明日は上海に行きます'], 'Japanese'],
    [['내일 뭐 있어요?'], 'Korean'],
    [['что у нас сегодня?'], 'Russian'],
    [['що в нас сьогодні, є її лист?'], 'Ukrainian'],
    [['τι έχουμε σήμερα;'], 'Greek'],
    [['ماذا لدينا اليوم'], 'Arabic'],
  ])('[H10] of %j is %s', (texts, language) => {
    expect(detectLanguageName(texts)).toBe(language);
  });

  it.each([
    [[]],
    [['ok', '👍', '/status', '42']],
    [['https://example.com/the/and/you/is/it']],
    [['```\nthe and you is it of to\n```']],
    [['> the and you is it of to']],
    // The message has equal amounts of both languages.
    [['the and you is it', 'der die das und ich']],
  ])('[H10] is undefined if %j does not reveal it', (texts) => {
    expect(detectLanguageName(texts)).toBeUndefined();
  });

  it.each([
    ['- **Name:** Ann\n- **Language:** German, du\n', 'German, du'],
    ['Languages: English and German', 'English and German'],
    ['* Sprache: Deutsch', 'Deutsch'],
    ['- Languages: German (native), English\n- Preferred response language: English', 'English'],
    ['- **Reply language**: French\n- **Languages**: Dutch', 'French'],
    ['- Preferred language:\n- Languages: Dutch', 'Dutch'],
    ['- 语言：中文、英文\n- 回复语言：中文', '中文'],
    ['- 语言:中文', '中文'],
    ['- **Language:**\n- **Quiet hours:** 22-7', undefined],
    ['Speaks a language: none of note is here', undefined],
    [`Language: ${'x'.repeat(100)}`, 'x'.repeat(60)],
  ])('[H10] is read from USER.md with %j: %s', (text, language) => {
    expect(findProfileLanguage(text)).toBe(language);
  });
});
