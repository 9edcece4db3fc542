/** Possible headers of a file that its author meant for the owner, including malformed headers. */
export const OWNER_FORMS: readonly string[] = [
  '---\naudience: owner\n---\n',
  '---\r\naudience: owner\r\n---\r\n',
  '\uFEFF---\naudience: owner\n---\n',
  '\n\n  \n---\naudience: owner\n---\n',
  '---  \naudience: owner\n---\t\n',
  '---\nAudience: owner\n---\n',
  '---\nAUDIENCE: "owner"\n---\n',
  "---\ntitle: Notes\naudience: 'owner' # nobody else\ntags: [a, b]\n---\n",
  '---\n{audience: owner}\n---\n',
  '---\n"audience": owner\n---\n',
  '---\naudience: OWNER\n---\n',
  '---\naudience: owners\n---\n',
  '---\naudience: [owner]\n---\n',
  '---\naudience:\n---\n',
  '---\naudience: owner\naudience: everyone\n---\n',
  '---\nAudience: owner\naudience: everyone\n---\n',
  '---\naudi\u200bence: owner\n---\n',
  '---\naudience\u00a0: owner\n---\n',
  '---\nａｕｄｉｅｎｃｅ: owner\n---\n',
  '\u200b---\naudience: owner\n---\n',
  ' ---\naudience: owner\n---\n',
  '\t---\naudience: owner\n---\n',
  '\uFEFF\uFEFF---\naudience: owner\n---\n',
  '\u00a0\n---\naudience: owner\n---\n',
  '---\naudience: [broken\n---\n',
  '---\n\taudience: owner\n---\n',
  '---\naudience: owner\n',
  '---\naudience: owner\n----\n',
  '---js\nmodule.exports = { audience: "everyone" }\n---\n',
  '---json\n{"audience":"owner"}\n---\n',
  '---toml\naudience = "owner"\n---\n',
  '---\n- audience: owner\n---\n',
  '---\na: &a [x]\nb: [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\naudience: everyone\n---\n',
  `---\nlong: ${'x'.repeat(17_000)}\naudience: owner\n---\n`,
];

/** Possible headers of a file that anyone may read. */
export const PUBLIC_FORMS: readonly string[] = [
  '',
  '---\naudience: everyone\n---\n',
  '---\ntitle: Notes\n---\n',
  '\uFEFF',
  '# audience\n',
];

/** Front-matter lines that mark a skill as the owner's, including careless lines. */
export const OWNER_LINES: readonly string[] = [
  'audience: owner',
  'Audience: owner',
  'AUDIENCE: "owner" # nobody else',
  'audience: OWNER',
  'audience: owners',
  'audience: [owner]',
  'audience:',
  'audience: owner\naudience: everyone',
];
