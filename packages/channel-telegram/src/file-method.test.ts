import { describe, expect, it } from 'vitest';
import { selectFileMethod } from './files.ts';

const MB = 1024 * 1024;

describe('the method that sends a file', () => {
  it.each<[Parameters<typeof selectFileMethod>[0], number, string]>([
    [{ kind: 'image', mimeType: 'image/JPEG' }, MB, 'sendPhoto'],
    [{ kind: 'image', mimeType: 'image/webp' }, 10 * MB, 'sendPhoto'],
    [{ kind: 'image', mimeType: 'image/png' }, 10 * MB + 1, 'sendDocument'],
    [{ kind: 'image', mimeType: 'image/gif' }, 20 * MB, 'sendAnimation'],
    [{ kind: 'image', mimeType: 'image/svg+xml' }, 1, 'sendDocument'],
    [{ kind: 'voice', mimeType: 'audio/ogg; codecs=opus' }, MB, 'sendVoice'],
    [{ kind: 'voice', mimeType: 'audio/wav' }, MB, 'sendDocument'],
    [{ kind: 'audio', mimeType: 'audio/mpeg' }, MB, 'sendAudio'],
    [{ kind: 'audio', mimeType: 'audio/flac' }, MB, 'sendDocument'],
    [{ kind: 'video', mimeType: 'video/mp4' }, 50 * MB, 'sendVideo'],
    [{ kind: 'video', mimeType: 'video/webm' }, MB, 'sendDocument'],
    [{ kind: 'document', mimeType: 'video/mp4' }, MB, 'sendDocument'],
  ])('[F10] chooses a method for %o of %i bytes: %3$s', (file, bytes, method) => {
    expect(selectFileMethod(file, bytes).method).toBe(method);
  });
});
