import { findSlowText } from '@parley/core/testing/repetitive-texts';
import { describe, expect, it } from 'vitest';
import { readCronExpression } from './cron/cron-expression.ts';
import { languageInProfile, languageOf } from './heartbeat/language.ts';
import { readTasks } from './heartbeat/read-tasks.ts';
import { readCadence, readWindow } from './heartbeat/task.ts';
import { heartbeatVerdict } from './heartbeat/verdict.ts';

const RECOGNIZERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['readCronExpression', (text) => readCronExpression(`* * * * ${text}`)],
  ['languageInProfile', (text) => languageInProfile(`language ${text}`)],
  ['languageOf', (text) => languageOf([text])],
  ['readTasks', (text) => readTasks(`## A task\nevery: 1 h\n${text}`)],
  ['readCadence', readCadence],
  ['readWindow', readWindow],
  ['heartbeatVerdict', (text) => heartbeatVerdict(text.slice(-60_000))],
];

describe('the parsing of tasks and times', () => {
  it.each(RECOGNIZERS)('[D13] ends in bounded time for any repetitive text: %s', (_name, read) => {
    expect(findSlowText(read)).toBeUndefined();
  });
});
