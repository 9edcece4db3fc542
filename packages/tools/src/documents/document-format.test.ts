import { describe, expect, it } from 'vitest';
import { detectFormat } from './document-format.ts';
import { detectAudioType } from './sound-format.ts';

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));

describe('the format of a file', () => {
  it.each([
    ['OggS', 'ogg'],
    ['ID3\u0004', 'mp3'],
    ['\u00ff\u00fb\u0090', 'mp3'],
    ['RIFF\0\0\0\0WAVE', 'wav'],
    ['fLaC', 'flac'],
    ['\0\0\0 ftypM4A ', 'm4a'],
    ['\u001aE\u00df\u00a3', 'webm'],
    ['\u00ff\u00d8\u00ff', undefined],
    ['hello', undefined],
  ])('[F10] detects a recording: %j has the extension %s', (beginning, extension) => {
    expect(detectAudioType(bytes(beginning))?.extension).toBe(extension);
  });

  it.each([
    ['garbage and then %PDF-1.7', 'pdf'],
    ['PK\u0003\u0004', 'zip'],
    ['{\\rtf1', 'rtf'],
    ['a,b\n1,2', 'text'],
    ['colours: \u001b[31mred', 'text'],
    ['MZ\0\u0001', 'binary'],
    ['\u0001\u0002\u0003 few letters', 'binary'],
  ])('[F10] detects a document: %j is %s', (beginning, format) => {
    expect(detectFormat(bytes(beginning))).toBe(format);
  });
});
