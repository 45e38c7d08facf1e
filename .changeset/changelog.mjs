// The changelogs that users read: the sentences of the changesets, and one line for each dependency. The format that comes
// with changesets repeats "Updated dependencies" in every package, once for each changeset of core.
export default {
  getReleaseLine: async ({ summary }) => `- ${summary}`,
  getDependencyReleaseLine: async (_changesets, dependencies) =>
    dependencies.map(({ name, newVersion }) => `- Depends on \`${name}\` ${newVersion}.`).join('\n'),
};
