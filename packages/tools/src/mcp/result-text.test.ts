import { describe, expect, it } from 'vitest';
import { formatResult } from './results.ts';

const DATA = Buffer.from('pixels').toString('base64');

describe('the result of an MCP call', () => {
  it('[G03] [F10] contains its images, recordings and files next to the text', () => {
    const found = formatResult({
      content: [
        { type: 'text', text: 'Here.' },
        { type: 'image', mimeType: 'image/png', data: DATA },
        { type: 'resource', resource: { uri: 'demo://a/plan.pdf', mimeType: 'a/b', blob: DATA } },
        { type: 'audio', mimeType: 'audio/ogg;codecs=opus', data: 'no base64!' },
      ],
    });
    expect(found.text).toBe(
      'Here.\n[image (image/png): not shown]\n[demo://a/plan.pdf: not shown]\n[audio (audio/ogg;codecs=opus): it cannot be read]',
    );
    const bytes = Buffer.from('pixels');
    expect(found.files).toEqual([
      { name: 'image-2.png', mimeType: 'image/png', bytes },
      { name: 'plan.pdf', mimeType: 'a/b', bytes },
    ]);
  });

  it('[G03] does not list files when there are none', () => {
    expect(formatResult({ content: [{ type: 'text', text: 'a' }] })).toEqual({
      text: 'a',
      failed: false,
    });
  });
});
