import { describe, expect, it } from 'vitest';
import { formatInstallCommand } from './install-line.ts';
import type { InstallationKind } from './installation.ts';

const SLACK = '@chat-adapter/slack@4.41.1';
const OTHER = '@resend/chat-sdk-adapter@latest';

describe('the line that installs optional libraries', () => {
  it.each<[InstallationKind, readonly string[], RegExp]>([
    ['global', ['discord.js'], /^npm install --global discord\.js@\d+\.\d+\.\d+$/],
    ['project', ['discord.js'], /^npm install discord\.js@\d+\.\d+\.\d+$/],
    ['clone', ['discord.js'], /^npm install --include=optional$/],
    ['global', ['bullmq-otel', 'unknown'], /^npm install --global bullmq-otel@\S+ unknown@latest$/],
    ['global', [SLACK], /^npm install --global @chat-adapter\/slack@4\.41\.1$/],
    ['project', [SLACK], /^npm install @chat-adapter\/slack@4\.41\.1$/],
    // The tests of a clone use this library.
    ['clone', [SLACK], /^npm install --include=dev$/],
    ['clone', [OTHER], /^npm install @resend\/chat-sdk-adapter@latest$/],
    ['clone', [SLACK, OTHER], /^npm install @chat-adapter\/slack@4\.41\.1 @resend\/chat-sdk-ad/],
  ])('[U02] fits the installation: %s, %j', (kind, names, line) => {
    expect(formatInstallCommand(names, kind)).toMatch(line);
  });
});
