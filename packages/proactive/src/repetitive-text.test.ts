import { detectLanguageName } from '@parley/core';
import { findSlowText } from '@parley/core/testing/repetitive-texts';
import { describe, expect, it } from 'vitest';
import { readCronExpression } from './cron/cron-expression.ts';
import { findProfileLanguage } from './heartbeat/language.ts';
import { parseHeartbeatTasks } from './heartbeat/read-tasks.ts';
import { parseCadence, parseDayWindow } from './heartbeat/task.ts';
import { judgeHeartbeatAnswer } from './heartbeat/verdict.ts';

const RECOGNIZERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['readCronExpression', (text) => readCronExpression(`* * * * ${text}`)],
  ['languageInProfile', (text) => findProfileLanguage(`language ${text}`)],
  ['languageOf', (text) => detectLanguageName([text])],
  ['readTasks', (text) => parseHeartbeatTasks(`## A task\nevery: 1 h\n${text}`)],
  ['readCadence', parseCadence],
  ['readWindow', parseDayWindow],
  ['heartbeatVerdict', (text) => judgeHeartbeatAnswer(text.slice(-60_000))],
];

describe('parsing tasks and times', () => {
  it.each(RECOGNIZERS)('[D13] ends in bounded time for repetitive text: %s', (_name, read) => {
    expect(findSlowText(read)).toBeUndefined();
  });
});
