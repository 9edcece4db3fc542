import { describe, expect, it } from 'vitest';
import { parseCommand } from './command.ts';

describe('recognising a command', () => {
  it.each([
    ['/stop', 'stop'],
    ['/STOP', 'stop'],
    ['  /stop now', 'stop'],
    ['/stop@other_bot', null],
    ['/start', 'help'],
    ['/new\nwith more', 'new'],
    ['/stopwatch', null],
    ['please /stop', null],
    ['stop', null],
    ['/', null],
    ['', null],
    ['/etc/passwd', null],
  ])('[F09] reads %j as %s', (text, name) => {
    expect(parseCommand(text)).toBe(name);
  });
});
