import { describe, expect, it } from 'vitest';
import { render } from '../render.ts';

const show = (markdown: string) =>
  render(markdown, { dialect: 'html', maxLength: 20_000, unit: 'utf16' })
    .map(({ text }) => text)
    .join('')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"');

const written: [what: string, markdown: string][] = [
  ['paths', String.raw`C:\new\_old\*.txt, C:\Users\ann\.ssh\id_rsa.`],
  ['paths of variables and folders', String.raw`%APPDATA%\.app, .\.venv\Scripts, ..\_x`],
  ['paths of the network', String.raw`\\server\share\!public and \\nas\a_b\(old)\c`],
  ['keys of the registry', String.raw`HKEY_LOCAL_MACHINE\Software\_x\{GUID}`],
  ['patterns with classes', String.raw`^\d+\.\d{2}$ and (\w+)\.(\w+)\* \S\!`],
  ['patterns of words', String.raw`\bfoo\b\.`],
  ['patterns with ranges and ends', String.raw`[a-z]+\.[a-z]{2,} '\.log$' /\.(js|ts)$/`],
  ['classes without some signs', String.raw`"([^\"\\]|\\.)*" and [^\]]+ or [^\[\]_*]*`],
  ['substitutions', String.raw`sed 's/\*/\_/g' and s/\//\-/ or tr/\!/\?/`],
  ['patterns of addresses', String.raw`^https?:\/\/e\.org\/_a\/ and "<\/p>"`],
  ['faces', '^_^ >_< -_- o_O ;_; <_< (^_^) (*^_^*) ._.'],
  ['a shrug', String.raw`¯\_(ツ)_/¯`],
  ['asterisks in quotes', `a = '*' or b = "*" or count(*), x[*] and ‘*’`],
  ['files in folders', '**/*.js, src/**/*.test.ts, **/*.{js,ts}, packages/*/src/**'],
  ['passwords', 'it is ****, or f***ing **** **** 1234.'],
  ['calls', 'handlers[name](event), grid[x](y), a[i](j=1)'],
  ['templates', 'std::vector<std::string> and std::map<std::a, b>'],
  ['placeholders', 'connect <host:port> <user:password>'],
  ['norms', '||u|| + ||v|| = ||w||, ||x_1||²'],
];

const marked: [what: string, markdown: string, shown: string][] = [
  ['escapes around slashes', String.raw`and\_/or\_ \*a/b\*/c`, 'and_/or_ *a/b*/c'],
  ['an escaped backslash', String.raw`a\\/b`, String.raw`a\/b`],
  ['escapes', String.raw`\*a\* snake\_case 1\. 5\$ \[a\]`, '*a* snake_case 1. 5$ [a]'],
  ['escaped paths', String.raw`C:\\Users\\ann`, String.raw`C:\Users\ann`],
  [
    'bold paths',
    String.raw`**C:\a\_b** *D:\_x*`,
    String.raw`<strong>C:\a\_b</strong> <em>D:\_x</em>`,
  ],
  ['bold patterns', String.raw`**\d+\.** _\w\._`, String.raw`<strong>\d+\.</strong> <em>\w\.</em>`],
  ['bold commands', '**/help** and **/etc/**', '<strong>/help</strong> and <strong>/etc/</strong>'],
  ['emphasis in quotes', `'*a*' (*b*)`, `'<em>a</em>' (<em>b</em>)`],
  ['four asterisks of bold text', '****a****', '<strong>a</strong>'],
  ['an address', '<https://e.org>', '<a href="https://e.org">https://e.org</a>'],
  [
    'hidden letters',
    '||p|| and ||v||',
    '<span class="spoiler">p</span> and <span class="spoiler">v</span>',
  ],
  ['code', '`C:\\_x\\*` and `^_^`', '<code>C:\\_x\\*</code> and <code>^_^</code>'],
];

describe('special characters that are meant literally', () => {
  it.each(written)('[M01] stay in %s', (_, markdown) => {
    expect(show(markdown)).toBe(`<p>${markdown}</p>`);
  });

  it.each(marked)('[M01] are still markup in %s', (_, markdown, shown) => {
    expect(show(markdown).replaceAll(/ (?:target|rel)="[^"]*"/g, '')).toBe(`<p>${shown}</p>`);
  });

  it.each(['a\\', 'C:\\', '[a](', '%a%\\', '<a:', '\\\\a\\', '**/*', '^_', '\\d{1', '>>> '])(
    '[M06] never stall the parser: %j',
    (text) => {
      expect(show(text.repeat(30_000 / text.length)).length).toBeGreaterThan(10_000);
    },
  );
});
