# A Homebrew formula for a tap: Formula/git-blue.rb. OWNER is the owner of the sources of git blue; the checksum is
# that of the release's source archive.
class GitBlue < Formula
  desc "Contracts between git repositories, kept as git objects"
  homepage "https://github.com/OWNER/git-blue"
  url "https://github.com/OWNER/git-blue/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    system bin/"git-blue", "install", "man", "--prefix", prefix
    system bin/"git-blue", "install", "completions", "--prefix", prefix
  end

  test do
    assert_equal "git-blue #{version}", shell_output("#{bin}/git-blue --version").strip
    system "git", "init", "shop"
    system bin/"git-blue", "-C", "shop", "init", "--realm", "shop"
  end
end
